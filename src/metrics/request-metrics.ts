import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Counter, Histogram, Registry } from 'prom-client';
import { RequestObserver } from '../../libs/http-edge/src/index.js';

/** Methods with a value of their own in the label. All others (Node knows some 30) share one. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'OPTIONS', 'PUT', 'PATCH', 'DELETE']);
/** In seconds: from a list that is in memory to the time limit of a slow request. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Counts requests and measures how long they took. No label has a value that a client can make up. */
@Injectable()
export class RequestMetrics extends RequestObserver {
  private readonly total: Counter<'method' | 'route' | 'status'>;
  private readonly duration: Histogram<'method' | 'route'>;

  constructor(registry: Registry) {
    super();
    const registers = [registry];
    this.total = new Counter({
      name: 'http_requests_total',
      help: 'Requests by method, route and status; aborted where the client did not get the whole answer.',
      labelNames: ['method', 'route', 'status'],
      registers,
    });
    this.duration = new Histogram({
      name: 'http_request_duration_seconds',
      help: 'Time from the head of a request to the end of its answer, whatever the status.',
      labelNames: ['method', 'route'],
      buckets: BUCKETS,
      registers,
    });
  }

  /** Counts a request whose answer is complete or given up. */
  override onResponse(request: Request, response: Response, milliseconds: number): void {
    const method = METHODS.has(request.method) ? request.method : 'other';
    const route = routeOf(request);
    const status = response.writableFinished ? response.statusCode : 'aborted';
    this.total.inc({ method, route, status });
    this.duration.observe({ method, route }, milliseconds / 1_000);
  }
}

/** The declared path of a route. Wildcards are no known path, and some requests never reach the router. */
function routeOf({ route }: { route?: { readonly path: string } }): string {
  return route === undefined || route.path.includes('*') ? 'other' : route.path;
}
