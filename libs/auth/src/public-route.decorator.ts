import { applyDecorators } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { SecurityRequirement } from '../../open-api/src/index.js';

/** The metadata that the guard and the edge read. */
export const IS_PUBLIC = Reflector.createDecorator({ key: 'time-logs.open', transform: () => true });

/** For a route that needs no token: everybody may call it, and everybody learns which methods its path has. */
export function PublicRoute(): MethodDecorator {
  return applyDecorators(IS_PUBLIC(), SecurityRequirement({}));
}
