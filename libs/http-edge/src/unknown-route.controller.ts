import { All, Controller, Req, Res, UseGuards } from '@nestjs/common';
import type { Request, Response } from 'express';
import { DomainError } from '../../errors/src/index.js';
import { methodsOf, routesOf } from './routes.js';
import { UnknownRouteGuard } from './unknown-route.guard.js';

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
