import { Reflector } from '@nestjs/core';

/** The scopes that a token must have for a route or a controller; without it, any valid token will do. */
export const Scopes = Reflector.createDecorator<readonly string[]>();
