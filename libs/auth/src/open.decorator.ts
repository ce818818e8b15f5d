import { applyDecorators } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ApiSecurity } from '@nestjs/swagger';

/** What the guard and the edge read. */
export const OpenRoute = Reflector.createDecorator({ transform: () => true });

/** For a route that needs no token: the guard lets everybody pass, and a wrong method on its path is told to anybody. */
export function Open(): MethodDecorator {
  return applyDecorators(OpenRoute(), ApiSecurity({}));
}
