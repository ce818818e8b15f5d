import { Inject, Injectable, type OnModuleInit, Optional } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { modulesWith } from '../modules-with.js';
import { CHOSEN_ROUTES, type ChosenRoutes, ROUTES } from './chosen-routes.js';
import { TimeLogRoutes } from './time-log-routes.js';

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
    const holders = modulesWith(TimeLogRoutes, this.modules);
    for (const { name, isStatic } of holders) {
      if (isStatic || !isChoosing) continue;
      throw new Error(
        `routes of ${name} cannot be left out where a hook, guard, filter or adapter of it is made for each request: give it the default scope`,
      );
    }
    for (const [method, text] of Object.entries(ROUTES)) {
      for (const { name, path, controller } of holders) {
        if (Reflect.get(controller, method) === undefined) continue;
        const route = text.replace(' ', ` ${path}`);
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
