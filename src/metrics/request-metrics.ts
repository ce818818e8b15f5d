import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Counter, Histogram, Registry } from 'prom-client';
import { RequestObserver } from '../../libs/http-edge/src/index.js';

/** What else a client may send as a method, Node knows some 30, is one value of the label. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'OPTIONS', 'PUT', 'PATCH', 'DELETE']);
/** Seconds: from a list out of memory to the time that a request has to arrive. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** How many requests there were and how long they took. No label has a value that a client can make up. */
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
  override note(request: Request, response: Response, milliseconds: number): void {
    const method = METHODS.has(request.method) ? request.method : 'other';
    const route = routeOf(request);
    const status = response.writableFinished ? response.statusCode : 'aborted';
    this.total.inc({ method, route, status });
    this.duration.observe({ method, route }, milliseconds / 1_000);
  }
}

/** The path of a route as it is declared; a wildcard makes no path known, and some requests are answered before the router. */
function routeOf({ route }: { route?: { readonly path: string } }): string {
  return route === undefined || route.path.includes('*') ? 'other' : route.path;
}
