import {
  All,
  Controller,
  type ExecutionContext,
  Inject,
  Injectable,
  Req,
  Res,
  UseGuards,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { AccessGuard, IS_PUBLIC } from '../../auth/src/index.js';
import { DomainError } from '../../errors/src/index.js';
import { HTTP_EDGE_OPTIONS, type HttpEdgeOptions } from './http-edge.options.js';
import { methodsOf, routesOf } from './routes.js';

/** Requires a token on unknown paths and methods too, except on the paths of public routes. */
@Injectable()
class UnknownRouteGuard extends AccessGuard {
  @Inject(HTTP_EDGE_OPTIONS) private readonly options!: HttpEdgeOptions;

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const { app, method, path } = context.switchToHttp().getRequest<Request>();
    const handlers = routesOf(app, path).flatMap(({ stack }) => stack.map(({ handle }) => handle));
    if (handlers.some((handler) => this.reflector.get(IS_PUBLIC, handler))) return true;
    try {
      return await super.canActivate(context);
    } catch (error) {
      const { page } = this.options;
      const isStart = method === 'GET' && path === '/' && page !== undefined;
      if (!isStart || !(error instanceof DomainError) || error.code !== 'UNAUTHORIZED') throw error;
      throw new DomainError(
        'UNAUTHORIZED',
        `${error.message}; the page ${page} below this address says how to call this service`,
      );
    }
  }
}

/** Answers requests without a route: 405 on a known path, else 404. Import its module last. */
@Controller()
@UseGuards(UnknownRouteGuard)
export class UnknownRouteController {
  @All('{*path}')
  refuse(@Req() { app, path }: Request, @Res({ passthrough: true }) response: Response): never {
    const allowed = methodsOf(routesOf(app, path));
    if (allowed.length === 0) throw new DomainError('NOT_FOUND');
    response.setHeader('Allow', allowed.join(', '));
    throw new DomainError('METHOD_NOT_ALLOWED');
  }
}
