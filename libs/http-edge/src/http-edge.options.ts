import { ConfigurableModuleBuilder } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { CorsOptions } from './cors.js';

export type IdentifiedRequest = Request & { id: string };

/** How much of the service's time and memory a client may take. Times are in milliseconds. */
export interface RequestLimits {
  /** Until all headers are received. */
  readonly headersTimeout: number;
  /** Until the whole request is received. */
  readonly requestTimeout: number;
  /** For which a connection without a request stays open: longer than the 60 s of common load balancers. */
  readonly keepAliveTimeout: number;
  /** Over which a client must take its waiting answer at a least rate; else its connection is cut. */
  readonly unreadTimeout: number;
  /** The most bytes of a body. */
  readonly bodyLimit: number;
  /** That a request may wait in all for what the service needs from elsewhere. */
  readonly deadline: number;
}

export interface HttpEdgeOptions {
  /** Seconds between the start of the shutdown and the drain. Requests are served as usual meanwhile. */
  readonly shutdownDelay: number;
  /** Without it no page of another origin may call the app. */
  readonly cors?: CorsOptions | undefined;
  /** The limits of a request. */
  readonly limits: RequestLimits;
  /** Called when an answer is complete or given up, with the milliseconds that the request took. */
  readonly onClose?: (request: IdentifiedRequest, response: Response, milliseconds: number) => void;
}

export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN: HTTP_EDGE_OPTIONS } =
  new ConfigurableModuleBuilder<HttpEdgeOptions>({ moduleName: 'HttpEdge' })
    .setClassMethodName('forRoot')
    .build();
