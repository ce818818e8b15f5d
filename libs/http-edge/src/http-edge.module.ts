import type { Server } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type BeforeApplicationShutdown,
  Inject,
  Logger,
  Module,
  type NestModule,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { APP_FILTER, DiscoveryModule, DiscoveryService, HttpAdapterHost } from '@nestjs/core';
import type { Application } from 'express';
import { ErrorEnvelopeFilter } from '../../errors/src/index.js';
import { Drainable } from '../../strict-request/src/index.js';
import { ConnectionDrain } from './connection-drain.js';
import { Cors } from './cors.js';
import { commonHeaders, firstMiddleware } from './first-middleware.js';
import { ConfigurableModuleClass, HTTP_EDGE_OPTIONS, type HttpEdgeOptions } from './http-edge.options.js';
import { answerNodeErrors, type NodeErrorOptions } from './node-errors.js';
import { PipelineQueue } from './pipeline-queue.js';
import { RequestObserver } from './request-observer.js';
import { toRoutableTarget } from './request-target.js';
import { preferFixedPaths } from './routes.js';
import { UnknownRouteController } from './unknown-route.controller.js';
import { UnreadResponseLimiter } from './unread-response-limiter.js';

/**
 * The HTTP edge of a standalone app: common headers, the error envelope, authentication on unknown
 * paths, time limits, and the drain at shutdown. Import it once, last in the root module.
 */
@Module({
  imports: [DiscoveryModule],
  controllers: [UnknownRouteController],
  providers: [
    { provide: APP_FILTER, useClass: ErrorEnvelopeFilter },
    {
      provide: UnreadResponseLimiter,
      inject: [HTTP_EDGE_OPTIONS],
      useFactory: ({ limits }: HttpEdgeOptions) => new UnreadResponseLimiter(limits.unreadTimeout),
    },
  ],
})
export class HttpEdgeModule
  extends ConfigurableModuleClass
  implements NestModule, OnApplicationBootstrap, BeforeApplicationShutdown
{
  private readonly logger = new Logger(HttpEdgeModule.name);
  private readonly nodeErrors: NodeErrorOptions = {
    headers: (request) => commonHeaders(request, this.cors),
    onRefused: (error, headers) =>
      this.logger.log(`refused before routing: ${error} (${headers['X-Request-Id']})`),
  };
  private readonly cors: Cors | undefined;
  private connections: ConnectionDrain | undefined;

  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly discovery: DiscoveryService,
    @Inject(HTTP_EDGE_OPTIONS) private readonly options: HttpEdgeOptions,
    private readonly unread: UnreadResponseLimiter,
  ) {
    super();
    this.cors = options.cors && new Cors(options.cors);
  }

  /** Sets up the server. Nest calls this before it registers any middleware or route. */
  configure(): void {
    const adapter = this.adapterHost.httpAdapter;
    const app = adapter.getInstance<Application>();
    const server = adapter.getHttpServer() as Server;
    app.disable('x-powered-by');
    app.disable('etag');
    app.set('query parser', false);
    const { limits } = this.options;
    const { headersTimeout, requestTimeout, keepAliveTimeout } = limits;
    // With a limit on their number, Node would drop headers, such as a second Authorization.
    Object.assign(server, { headersTimeout, requestTimeout, keepAliveTimeout, maxHeadersCount: 0 });
    // A client may close its side after the request, and still reads the response.
    Object.assign(server, { httpAllowHalfOpen: true });
    this.unread.watch(server);
    const queue = new PipelineQueue(app);
    server.removeListener('request', app);
    server.on('request', (request, response) => {
      // Otherwise Express itself would answer a target without a path.
      request.url = toRoutableTarget(request.url ?? '');
      queue.take(request, response);
    });
    answerNodeErrors(server, queue, this.nodeErrors);
    // 100 Continue is sent when the body is read, so not if the headers lead to a refusal.
    server.on('checkContinue', (request, response) => {
      request.once('resume', () => response.headersSent || response.writeContinue());
      server.emit('request', request, response);
    });
    // The first middleware refuses this request.
    server.on('checkExpectation', (request, response) => server.emit('request', request, response));
    const connections = new ConnectionDrain(server, queue, this.nodeErrors);
    this.connections = connections;
    const onClose = this.providersOf(RequestObserver).map((observer) => observer.onResponse.bind(observer));
    if (this.options.onClose) onClose.push(this.options.onClose);
    const { cors } = this;
    app.use(firstMiddleware({ cors, limits, queue, connections, onClose }));
    if (cors) app.use((...args: Parameters<Cors['answerPreflight']>) => cors.answerPreflight(...args));
  }

  onApplicationBootstrap(): void {
    preferFixedPaths(this.adapterHost.httpAdapter.getInstance<Application>());
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
    if (!(this.adapterHost.httpAdapter.getHttpServer() as Server).listening) return;
    await delay(this.options.shutdownDelay * 1_000);
    await Promise.all([
      this.connections?.drain(),
      ...this.providersOf(Drainable).map((work) => work.drain()),
    ]);
  }
}
