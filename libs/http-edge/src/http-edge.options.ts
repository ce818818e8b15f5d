import { ConfigurableModuleBuilder } from '@nestjs/common';
import type { Request, Response } from 'express';

/** A request after the first middleware. */
export type IdentifiedRequest = Request & { id: string };

/** The limits of a server. Times are in milliseconds. */
export interface RequestLimits {
  /** The maximum time until all headers are received. */
  readonly headersTimeout: number;
  /** The maximum time until the whole request is received. */
  readonly requestTimeout: number;
  /** The time for which an idle connection stays open: longer than the 60 s of load balancers. */
  readonly keepAliveTimeout: number;
  /** The maximum size of request line and headers in bytes. */
  readonly headersLimit: number;
}

/** The pages of other origins that may call the app (Fetch standard, section 3.3). */
export interface CorsOptions {
  /** The origins, as browsers send them; `*` for all. */
  readonly origins: readonly string[];
  /** The request headers that pages may send. */
  readonly allowedHeaders: readonly string[];
  /** The response headers that pages may read. */
  readonly exposedHeaders: readonly string[];
}

export interface HttpEdgeOptions {
  /** Seconds from the start of the shutdown to the drain, in which requests are served as usual. */
  readonly shutdownDelay: number;
  /** Without this option no page of another origin may call the app. */
  readonly cors?: CorsOptions | undefined;
  /** The path of a page for people, relative to the app. The 401 of `GET /` without a token names it. */
  readonly page?: string | undefined;
  /** The maximum total time in milliseconds that a request waits for the database and other services. */
  readonly deadline: number;
}

export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN: HTTP_EDGE_OPTIONS } =
  new ConfigurableModuleBuilder<HttpEdgeOptions>({ moduleName: 'HttpEdge' })
    .setClassMethodName('forRoot')
    .build();

/** A provider that observes every request of the app. http-edge finds all subclasses. */
export abstract class RequestObserver {
  /** Called when a response is complete or aborted, with the duration of the request. */
  abstract onResponse(request: IdentifiedRequest, response: Response, milliseconds: number): void;
}
