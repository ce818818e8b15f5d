import { Inject, Injectable, type OnModuleInit, Optional } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { modulesProviding } from '../../../open-api/src/index.js';
import { ENABLED_ROUTES, type EnabledRoutes, ROUTES } from './enabled-routes.js';
import { TimeLogRoutes } from '../../../../src/time-log/index.js';

/** Stops the start of an app if two modules serve one route, or if Nest could not disable a route. */
@Injectable()
export class DuplicateRouteCheck implements OnModuleInit {
  constructor(
    private readonly modules: ModulesContainer,
    @Optional() @Inject(ENABLED_ROUTES) private readonly routes: EnabledRoutes = {},
  ) {}

  /** Throws an Error that names the modules and the route, or the remedy. */
  onModuleInit(): void {
    const moduleOfRoute = new Map<string, string>();
    const disablesRoutes = Object.values(this.routes).includes(false);
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
