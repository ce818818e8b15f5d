import { applyDecorators } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { DescribesSecurity } from '../../open-api/src/index.js';

/** The metadata that the guard and the edge read. */
export const OpenRoute = Reflector.createDecorator({ key: 'time-logs.open', transform: () => true });

/** For a route that needs no token: everybody may call it, and everybody learns which methods its path has. */
export function Open(): MethodDecorator {
  return applyDecorators(OpenRoute(), DescribesSecurity({}));
}
