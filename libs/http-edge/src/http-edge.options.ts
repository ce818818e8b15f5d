import { ConfigurableModuleBuilder } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Served } from '../../strict-request/src/index.js';
import type { CorsOptions } from './cors.js';

/** A request after the first middleware. */
export type IdentifiedRequest = Request & Served & { id: string };

/** The limits of a request. Times are in milliseconds. */
export interface RequestLimits {
  /** The maximum time until all headers are received. */
  readonly headersTimeout: number;
  /** The maximum time until the whole request is received. */
  readonly requestTimeout: number;
  /** The time for which an idle connection stays open: longer than the 60 s of load balancers. */
  readonly keepAliveTimeout: number;
  /** The time over which a client must read a waiting response at a minimum average rate. */
  readonly unreadTimeout: number;
  /** The maximum size of a body in bytes. */
  readonly bodyLimit: number;
  /** The maximum total time that a request waits for the database and other services. */
  readonly deadline: number;
}

export interface HttpEdgeOptions {
  /** Seconds from the start of the shutdown to the drain, in which requests are served as usual. */
  readonly shutdownDelay: number;
  /** Without this option no page of another origin may call the app. */
  readonly cors?: CorsOptions | undefined;
  /** The path of a page for people, relative to the app. The 401 of `GET /` without a token names it. */
  readonly page?: string | undefined;
  readonly limits: RequestLimits;
  /** Called when a response is complete or aborted, with the duration of the request. */
  readonly onClose?: (request: IdentifiedRequest, response: Response, milliseconds: number) => void;
}

export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN: HTTP_EDGE_OPTIONS } =
  new ConfigurableModuleBuilder<HttpEdgeOptions>({ moduleName: 'HttpEdge' })
    .setClassMethodName('forRoot')
    .build();
