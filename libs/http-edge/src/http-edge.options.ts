import { ConfigurableModuleBuilder } from '@nestjs/common';

export interface HttpEdgeOptions {
  /** Paths that need no token, such as `/livez`: on them a wrong method is told to anybody. */
  readonly openPaths: readonly string[];
  /** Seconds between the begin of the shutdown and the drain, in which requests are served as ever. */
  readonly shutdownDelay: number;
}

export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN: HTTP_EDGE_OPTIONS } =
  new ConfigurableModuleBuilder<HttpEdgeOptions>({ moduleName: 'HttpEdge' })
    .setClassMethodName('forRoot')
    .build();
