import { type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';

/*
 * The metadata of routes, which the guard reads. All builds in a process share the keys: otherwise the guard of one
 * build would miss the scopes of another and let every caller pass.
 */

/** The metadata of public routes, which the guard and the edge read. */
export const IS_PUBLIC = Reflector.createDecorator({ key: 'time-logs.open', transform: () => true });
const RequiredScopes = Reflector.createDecorator<readonly string[]>({ key: 'time-logs.scopes' });
/** Exempts a route or a controller, such as a health check, from the rate limit. */
export const Unlimited = Reflector.createDecorator({ key: 'time-logs.unlimited', transform: () => true });

/** Makes a route public: it needs no token, and neither does the list of methods of its path. */
export function PublicRoute(): MethodDecorator {
  return IS_PUBLIC();
}

/** Sets the scopes that a route or a controller requires. Without it any valid token is enough. */
export function Scopes(scopes: readonly string[]): ClassDecorator & MethodDecorator {
  return RequiredScopes(scopes);
}

/** Returns the scopes that a route requires. */
export function requiredScopes(reflector: Reflector, context: ExecutionContext): readonly string[] {
  const targets = [context.getHandler(), context.getClass()];
  return reflector.getAllAndOverride<readonly string[] | undefined>(RequiredScopes.KEY, targets) ?? [];
}
