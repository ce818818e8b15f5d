import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost, ModulesContainer } from '@nestjs/core';
import { modulesProviding } from '../../../open-api/src/index.js';
import { TIME_LOG_OPTIONS, TimeLogRoutes } from '../../../../src/time-log/index.js';
import type { TimeLogModuleOptions } from '../time-log.options.js';
import { ROUTES } from './enabled-routes.js';

/** The route of one log, without the path of its module. */
const ROUTE_OF_LOG = '/time-logs/:id';
/** Matches a path that begins with the same segments twice. */
const REPEATED_PREFIX = /^(\/.+)\1\//;

/** The routes of an Express app, in the order in which it tries them. */
interface ExpressApp {
  readonly router?: {
    readonly stack: readonly { readonly route?: { readonly path: unknown; readonly methods: object } }[];
  };
}

/** Stops the start of an app whose routes cannot work, and warns of paths that look like mistakes. */
@Injectable()
export class RouteCheck implements OnModuleInit, OnApplicationBootstrap {
  private readonly logger = new Logger('TimeLogModule');

  constructor(
    private readonly host: HttpAdapterHost,
    private readonly modules: ModulesContainer,
    @Inject(TIME_LOG_OPTIONS) private readonly options: TimeLogModuleOptions,
  ) {}

  /** Throws an Error that names the remedy. An app without HTTP may start. */
  onModuleInit(): void {
    const adapter = this.host.httpAdapter as Partial<HttpAdapterHost['httpAdapter']> | undefined;
    if ((adapter?.getType?.() ?? 'express') !== 'express')
      throw new Error(
        'time logs over HTTP require @nestjs/platform-express: create the app with it, or import TimeLogCoreModule, which has no HTTP',
      );
    this.requireOwnRoutes();
  }

  /** Warns of routes that no request reaches, and of a global prefix that our paths repeat. */
  onApplicationBootstrap(): void {
    const module = [...this.modules.values()].find(
      ({ providers }) => providers.get(RouteCheck)?.instance === this,
    );
    const [ours] = modulesProviding(TimeLogRoutes, this.modules).filter(({ name }) => name === module?.name);
    const adapter = this.host.httpAdapter as HttpAdapterHost['httpAdapter'] | undefined;
    const router = adapter?.getInstance<ExpressApp>().router;
    if (!ours || !router) return;
    const routeOfLog = ours.path + ROUTE_OF_LOG;
    const parents = new Set<string>();
    for (const { route } of router.stack) {
      const path = route?.path;
      // A regular expression, a list or a wildcard may match more than the route of a log.
      if (!route || typeof path !== 'string' || /[*{]/.test(path)) continue;
      const parent = path.slice(0, path.lastIndexOf('/'));
      for (const method of Object.keys(route.methods).map((name) => name.toUpperCase())) {
        if (parents.has(`${method} ${parent}`))
          this.logger.warn(
            `no request reaches ${method} ${path}, since ${method} ${parent}/:id of ${ours.name} comes first: import the module with that route before ${ours.name}`,
          );
        else if (path.endsWith(routeOfLog)) parents.add(`${method} ${parent}`);
      }
    }
    const [ourPath] = [...parents].map((text) => text.split(' ')[1]!);
    const repeated = ourPath && REPEATED_PREFIX.exec(ourPath)?.[1];
    if (repeated)
      this.logger.warn(
        `time logs are at ${ourPath}: the global prefix also precedes the path in RouterModule, so leave ${repeated} out of one of them`,
      );
  }

  /** Throws an Error if two modules serve one route, or if Nest could not disable a route. */
  private requireOwnRoutes(): void {
    const moduleOfRoute = new Map<string, string>();
    const disablesRoutes = Object.values(this.options.routes ?? {}).includes(false);
    const controllers = modulesProviding(TimeLogRoutes, this.modules);
    for (const { name, isStatic } of controllers) {
      if (isStatic || !disablesRoutes) continue;
      throw new Error(
        `routes of ${name} cannot be disabled if one of its hooks, guards or filters is request-scoped: give it the default scope`,
      );
    }
    for (const [method, pattern] of Object.entries(ROUTES)) {
      for (const { name, path, controller } of controllers) {
        if (Reflect.get(controller, method) === undefined) continue;
        const route = pattern.replace(' ', ` ${path}`);
        const other = moduleOfRoute.get(route);
        if (other !== undefined)
          throw new Error(
            `the modules ${other} and ${name} both serve ${route}: make one of them a subclass (class OtherTimeLogs extends TimeLogModule {}), and mount it at another path with RouterModule`,
          );
        moduleOfRoute.set(route, name);
      }
    }
  }
}
