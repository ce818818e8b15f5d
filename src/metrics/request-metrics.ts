import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Counter, Histogram, Registry } from 'prom-client';
import { RequestObserver } from '../../libs/http-edge/src/index.js';

/** The methods with their own label value. Some 30 others share the value `other`. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'OPTIONS', 'PUT', 'PATCH', 'DELETE']);
/** From a list of cached rows to the timeout of a slow request. */
const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Counts requests and measures their duration. Clients cannot choose the values of labels. */
@Injectable()
export class RequestMetrics extends RequestObserver {
  private readonly total: Counter<'method' | 'route' | 'status'>;
  private readonly duration: Histogram<'method' | 'route'>;

  constructor(registry: Registry) {
    super();
    const registers = [registry];
    this.total = new Counter({
      name: 'http_requests_total',
      help: 'Requests by method, route and status; aborted if the client did not receive the whole response.',
      labelNames: ['method', 'route', 'status'],
      registers,
    });
    this.duration = new Histogram({
      name: 'http_request_duration_seconds',
      help: 'Time from the headers of a request to the end of its response, for any status.',
      labelNames: ['method', 'route'],
      buckets: BUCKETS_SECONDS,
      registers,
    });
  }

  /** Counts a request whose response is complete or aborted. */
  override onResponse(request: Request, response: Response, milliseconds: number): void {
    const method = METHODS.has(request.method) ? request.method : 'other';
    const route = routeOf(request);
    const status = response.writableFinished ? response.statusCode : 'aborted';
    this.total.inc({ method, route, status });
    this.duration.observe({ method, route }, milliseconds / 1_000);
  }
}

/** Returns the declared path of a route; `other` for a wildcard or without a route. */
function routeOf({ route }: { route?: { readonly path: string } }): string {
  return route === undefined || route.path.includes('*') ? 'other' : route.path;
}
