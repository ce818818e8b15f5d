import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost, ModulesContainer } from '@nestjs/core';
import { modulesProviding } from '../../../open-api/src/index.js';
import { TIME_LOG_OPTIONS, TimeLogRoutes } from '../../../../src/time-log/index.js';
import type { TimeLogModuleOptions } from '../time-log.options.js';
import { ROUTES } from './enabled-routes.js';

/** Stops the start of an app whose routes cannot work. */
@Injectable()
export class RouteCheck implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly modules: ModulesContainer,
    @Inject(TIME_LOG_OPTIONS) private readonly options: TimeLogModuleOptions,
  ) {}

  /** Throws an Error that names the remedy. An app without HTTP may start. */
  onModuleInit(): void {
    const adapter = this.host.httpAdapter as Partial<HttpAdapterHost['httpAdapter']> | undefined;
    if ((adapter?.getType?.() ?? 'express') !== 'express') {
      throw new Error(
        'time logs over HTTP require @nestjs/platform-express: create the app with it, or import TimeLogCoreModule, which has no HTTP',
      );
    }
    this.requireOwnRoutes();
  }

  /** Throws an Error if two modules serve one route, or if Nest could not disable a route. */
  private requireOwnRoutes(): void {
    const moduleOfRoute = new Map<string, string>();
    const disablesRoutes = Object.values(this.options.routes ?? {}).includes(false);
    const controllers = modulesProviding(TimeLogRoutes, this.modules);
    for (const { name, isStatic } of controllers) {
      if (isStatic || !disablesRoutes) continue;
      throw new Error(
        `routes of ${name} cannot be disabled if one of its hooks, guards, filters or adapters is request-scoped: give it the default scope`,
      );
    }
    for (const [method, pattern] of Object.entries(ROUTES)) {
      for (const { name, path, controller } of controllers) {
        if (Reflect.get(controller, method) === undefined) continue;
        const route = pattern.replace(' ', ` ${path}`);
        const other = moduleOfRoute.get(route);
        if (other !== undefined) {
          throw new Error(
            `the modules ${other} and ${name} both serve ${route}: make one of them a subclass (class OtherTimeLogs extends TimeLogModule {}), and mount it at another path with RouterModule`,
          );
        }
        moduleOfRoute.set(route, name);
      }
    }
  }
}
