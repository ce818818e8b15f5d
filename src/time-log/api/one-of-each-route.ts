import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { modulesWith } from '../modules-with.js';
import { ROUTES, routesOf } from './chosen-routes.js';
import { TimeLogController } from './time-log.controller.js';

/** Ends the start of an app of which two modules have one route: the second one's would never be asked. */
@Injectable()
export class OneOfEachRoute implements OnModuleInit {
  constructor(private readonly modules: ModulesContainer) {}

  /** Throws an Error that names the modules and the route. */
  onModuleInit(): void {
    const first = new Map<string, string>();
    for (const { name, path, controller } of modulesWith(TimeLogController, this.modules)) {
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
