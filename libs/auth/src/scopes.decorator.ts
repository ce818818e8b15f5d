import { applyDecorators } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ApiSecurity } from '@nestjs/swagger';

/**
 * The metadata that the guard reads: the scopes that a token must have. Its key is the same in every build that a
 * process loads. With keys of their own the guard of one would miss the scopes of the other, and let everybody pass.
 */
export const RequiredScopes = Reflector.createDecorator<readonly string[]>({ key: 'time-logs.scopes' });

/** The scopes that a token must have for a route or a controller. Without this decorator any valid token will do. */
export function Scopes(scopes: readonly string[]): ClassDecorator & MethodDecorator {
  return applyDecorators(RequiredScopes(scopes), ApiSecurity('bearer', [...scopes]));
}
