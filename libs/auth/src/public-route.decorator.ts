import { applyDecorators } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { SecurityRequirement } from '../../open-api/src/index.js';

/** The metadata of public routes, which the guard and the edge read. */
export const IS_PUBLIC = Reflector.createDecorator({ key: 'time-logs.open', transform: () => true });

/** Makes a route public: it needs no token, and neither does the list of methods of its path. */
export function PublicRoute(): MethodDecorator {
  return applyDecorators(IS_PUBLIC(), SecurityRequirement({}));
}
