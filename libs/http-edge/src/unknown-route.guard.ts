import { type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { BearerAuthGuard, IS_PUBLIC } from '../../auth/src/index.js';
import { routesOf } from './routes.js';

/** Requires a token on unknown paths and methods too, except on the paths of public routes. */
@Injectable()
export class UnknownRouteGuard extends BearerAuthGuard {
  override canActivate(context: ExecutionContext): Promise<boolean> {
    const { app, path } = context.switchToHttp().getRequest<Request>();
    const handlers = routesOf(app, path).flatMap(({ stack }) => stack.map(({ handle }) => handle));
    return handlers.some((handler) => this.reflector.get(IS_PUBLIC, handler))
      ? Promise.resolve(true)
      : super.canActivate(context);
  }
}
