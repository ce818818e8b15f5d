import { applyDecorators, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { SecurityRequirement } from '../../open-api/src/index.js';
import type { Caller } from './caller.js';

/**
 * The metadata that the guards read: the scopes that a token must have. Its key is the same in every build that a
 * process loads. With keys of their own the guard of one would miss the scopes of the other, and let everybody pass.
 */
const RequiredScopes = Reflector.createDecorator<readonly string[]>({ key: 'time-logs.scopes' });

/** The scopes that a token must have for a route or a controller. Without this decorator any valid token will do. */
export function Scopes(scopes: readonly string[]): ClassDecorator & MethodDecorator {
  return applyDecorators(RequiredScopes(scopes), SecurityRequirement({ bearer: scopes }));
}

/** The scopes of a route, as text, where a caller lacks one of them. */
export function missingScope(
  reflector: Reflector,
  caller: Caller,
  context: ExecutionContext,
): string | undefined {
  const targets = [context.getHandler(), context.getClass()];
  const required =
    (reflector.getAllAndOverride(RequiredScopes, targets) as readonly string[] | undefined) ?? [];
  return required.every((scope) => caller.scopes.includes(scope)) ? undefined : required.join(' ');
}
