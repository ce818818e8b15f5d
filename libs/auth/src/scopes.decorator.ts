import { applyDecorators, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { SecurityRequirement } from '../../open-api/src/index.js';
import type { Caller } from './caller.js';

/**
 * The scopes that a token must have, as metadata for the guards. All builds in a process share its
 * key: otherwise the guard of one build would miss the scopes of another and let every caller pass.
 */
const RequiredScopes = Reflector.createDecorator<readonly string[]>({ key: 'time-logs.scopes' });

/** Sets the scopes that a route or a controller requires. Without it any valid token is enough. */
export function Scopes(scopes: readonly string[]): ClassDecorator & MethodDecorator {
  return applyDecorators(RequiredScopes(scopes), SecurityRequirement({ bearer: scopes }));
}

/** Returns the scopes of a route as text if the caller lacks one of them, else undefined. */
export function missingScopes(
  reflector: Reflector,
  caller: Caller,
  context: ExecutionContext,
): string | undefined {
  const targets = [context.getHandler(), context.getClass()];
  const required =
    (reflector.getAllAndOverride(RequiredScopes, targets) as readonly string[] | undefined) ?? [];
  return required.every((scope) => caller.scopes.includes(scope)) ? undefined : required.join(' ');
}
