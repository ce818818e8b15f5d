import { Inject, Injectable, type OnModuleInit, Optional } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { modulesWith } from '../modules-with.js';
import { CHOSEN_ROUTES, type ChosenRoutes, ROUTES, routesOf } from './chosen-routes.js';
import { TimeLogController } from './time-log.controller.js';

/**
 * Ends the start of an app of which two modules have one route: the second one's would never be asked. And of one that
 * leaves routes out, where Nest would find them all the same.
 */
@Injectable()
export class OneOfEachRoute implements OnModuleInit {
  constructor(
    private readonly modules: ModulesContainer,
    @Optional() @Inject(CHOSEN_ROUTES) private readonly routes: ChosenRoutes = {},
  ) {}

  /** Throws an Error that names the modules and the route, or says what to do. */
  onModuleInit(): void {
    const first = new Map<string, string>();
    const isChoosing = Object.values(this.routes).includes(false);
    for (const { name, path, controller, isStatic } of modulesWith(TimeLogController, this.modules)) {
      if (isChoosing && !isStatic) {
        throw new Error(
          `routes of ${name} cannot be left out where a hook, guard, filter or adapter of it is made for each request: give it the default scope`,
        );
      }
      for (const route of routesOf(controller).map((each) => ROUTES[each].replace(' ', ` ${path}`))) {
        const other = first.get(route);
        if (other !== undefined) {
          throw new Error(
            `the modules ${other} and ${name} both serve ${route}: make one of them a class of its own (class Others extends TimeLogModule {}), and mount it elsewhere by RouterModule`,
          );
        }
        first.set(route, name);
      }
    }
  }
}
