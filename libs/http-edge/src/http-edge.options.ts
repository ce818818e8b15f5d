import { ConfigurableModuleBuilder } from '@nestjs/common';
import type { Request, Response } from 'express';

export type IdentifiedRequest = Request & { id: string };

/** How much of a client's time and bytes the edge takes. Times in milliseconds. */
export interface RequestLimits {
  /** Until the headers are received. */
  readonly headersTimeout: number;
  /** Until the request is received in full. */
  readonly requestTimeout: number;
  /** Without a request on a connection; longer than the 60 s that load balancers keep one. */
  readonly keepAliveTimeout: number;
  /** In which a client takes some of an answer that waits for it, or is cut off. */
  readonly unreadTimeout: number;
  /** Bytes of a body. */
  readonly bodyLimit: number;
  /** What a request waits in all for what the service needs from elsewhere. */
  readonly deadline: number;
}

export interface HttpEdgeOptions {
  /** Seconds between the begin of the shutdown and the drain, in which requests are served as ever. */
  readonly shutdownDelay: number;
  /** Origins whose pages may call the app from a browser, as browsers send them, or `*` for all; none without it. */
  readonly corsOrigins?: readonly string[];
  /** What a request may take. */
  readonly limits: RequestLimits;
  /** Told of each request when its answer is complete or given up, and how many milliseconds it took. */
  readonly onClose?: (request: IdentifiedRequest, response: Response, milliseconds: number) => void;
}

export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN: HTTP_EDGE_OPTIONS } =
  new ConfigurableModuleBuilder<HttpEdgeOptions>({ moduleName: 'HttpEdge' })
    .setClassMethodName('forRoot')
    .build();
