import { ConfigurableModuleBuilder } from '@nestjs/common';
import type { Request, Response } from 'express';

export type IdentifiedRequest = Request & { id: string };

export interface HttpEdgeOptions {
  /** Paths that need no token, such as `/livez`: on them a wrong method is told to anybody. */
  readonly openPaths: readonly string[];
  /** Seconds between the begin of the shutdown and the drain, in which requests are served as ever. */
  readonly shutdownDelay: number;
  /** Origins whose pages may call the app from a browser, as browsers send them, or `*` for all; none without it. */
  readonly corsOrigins?: readonly string[];
  /** Told of each request when its answer is complete or given up, and how many milliseconds it took. */
  readonly onClose?: (request: IdentifiedRequest, response: Response, milliseconds: number) => void;
}

export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN: HTTP_EDGE_OPTIONS } =
  new ConfigurableModuleBuilder<HttpEdgeOptions>({ moduleName: 'HttpEdge' })
    .setClassMethodName('forRoot')
    .build();
