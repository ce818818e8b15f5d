import { setTimeout as delay } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Inject, Logger, Module, type NestModule } from '@nestjs/common';
import { APP_FILTER, DiscoveryModule, DiscoveryService, HttpAdapterHost } from '@nestjs/core';
import type { Application, NextFunction, Request, Response } from 'express';
import { ErrorEnvelopeFilter } from '../../errors/src/index.js';
import { Drainable } from '../../request-state/src/index.js';
import type { EdgeServer } from './edge.server.js';
import { firstMiddleware } from './edge.adapter.js';
import {
  ConfigurableModuleClass,
  type CorsOptions,
  HTTP_EDGE_OPTIONS,
  type HttpEdgeOptions,
  RequestObserver,
} from './http-edge.options.js';
import { answerNodeErrors } from './node-errors.js';
import { UnknownRouteController } from './unknown-route.controller.js';

/** The time in seconds for which a browser may keep a preflight response. Chromium keeps none longer. */
const PREFLIGHT_MAX_AGE_SECONDS = 7_200;

/**
 * The HTTP edge of a standalone app: common headers, the error envelope, authentication on unknown
 * paths, CORS, and the drain at shutdown. It needs EdgeAdapter. Import it once, last in the root module.
 */
@Module({
  imports: [DiscoveryModule],
  controllers: [UnknownRouteController],
  providers: [{ provide: APP_FILTER, useClass: ErrorEnvelopeFilter }],
})
export class HttpEdgeModule extends ConfigurableModuleClass implements NestModule, BeforeApplicationShutdown {
  private readonly logger = new Logger(HttpEdgeModule.name);

  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly discovery: DiscoveryService,
    @Inject(HTTP_EDGE_OPTIONS) private readonly options: HttpEdgeOptions,
  ) {
    super();
  }

  private get app(): Application {
    return this.adapterHost.httpAdapter.getInstance<Application>();
  }

  private get server(): EdgeServer {
    return this.adapterHost.httpAdapter.getHttpServer() as EdgeServer;
  }

  /** Sets up the server. Nest calls this before it registers any middleware or route. */
  configure(): void {
    const { app, server } = this;
    const { deadline, cors } = this.options;
    app.disable('x-powered-by');
    app.disable('etag');
    app.set('query parser', false);
    answerNodeErrors(server, (error, requestId) =>
      this.logger.log(`refused before routing: ${error} (${requestId})`),
    );
    // 100 Continue is sent when the body is read, so not if the headers lead to a refusal.
    server.on('checkContinue', (request, response) => {
      request.once('resume', () => response.headersSent || response.writeContinue());
      server.emit('request', request, response);
    });
    // The first middleware refuses this request.
    server.on('checkExpectation', (request, response) => server.emit('request', request, response));
    app.use(firstMiddleware(server, deadline, this.providersOf(RequestObserver)));
    if (cors) this.enableCors(cors);
  }

  private enableCors({ origins, allowedHeaders, exposedHeaders }: CorsOptions): void {
    this.adapterHost.httpAdapter.enableCors({
      origin: origins.includes('*') ? '*' : [...origins],
      allowedHeaders: [...allowedHeaders],
      exposedHeaders: [...exposedHeaders],
      maxAge: PREFLIGHT_MAX_AGE_SECONDS,
      // Otherwise every OPTIONS request would get a 204, without a token and from any origin.
      preflightContinue: true,
    });
    this.app.use((request: Request, response: Response, next: NextFunction) => {
      const isPreflight = request.headers['access-control-request-method'] !== undefined;
      const isAllowed =
        request.headers.origin !== undefined && response.hasHeader('Access-Control-Allow-Origin');
      if (request.method === 'OPTIONS' && isPreflight && isAllowed) response.writeHead(204).end();
      else next();
    });
  }

  /** Returns the providers of the whole app that extend a class. */
  private providersOf<T>(type: abstract new (...args: never[]) => T): T[] {
    const providers = this.discovery.getProviders() as { readonly instance: unknown }[];
    return providers
      .map(({ instance }) => instance)
      .filter((instance): instance is T => instance instanceof type);
  }

  async beforeApplicationShutdown(): Promise<void> {
    // After a failed start there is nothing to drain.
    if (!this.server.listening) return;
    await delay(this.options.shutdownDelay * 1_000);
    await Promise.all([this.server.drain(), ...this.providersOf(Drainable).map((work) => work.drain())]);
  }
}
