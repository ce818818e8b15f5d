import { type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { AUTH_OPTIONS, type AuthOptions, BearerAuthGuard, BearerStrategy } from '../../auth/src/index.js';
import { HTTP_EDGE_OPTIONS, type HttpEdgeOptions } from './http-edge.options.js';

/** Asks for a token on unknown paths and methods too, so that only its holders learn what there is; open paths hide nothing. */
@Injectable()
export class UnknownRouteGuard extends BearerAuthGuard {
  constructor(
    strategy: BearerStrategy,
    @Inject(AUTH_OPTIONS) auth: AuthOptions,
    reflector: Reflector,
    @Inject(HTTP_EDGE_OPTIONS) private readonly edge: HttpEdgeOptions,
  ) {
    super(strategy, auth, reflector);
  }

  override canActivate(context: ExecutionContext): Promise<boolean> {
    // As Express matches: any case, with or without a trailing slash.
    const path = context.switchToHttp().getRequest<Request>().path.toLowerCase().replace(/\/$/, '');
    return this.edge.openPaths.includes(path) ? Promise.resolve(true) : super.canActivate(context);
  }
}
