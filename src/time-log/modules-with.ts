import type { Type } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';

/** A module of an app that has a controller. */
interface Holder {
  /** The name of the module's class. */
  readonly name: string;
  /** Where RouterModule has mounted it; empty: nowhere. */
  readonly path: string;
  readonly controller: object;
  /** False where something that it needs is made for each request. */
  readonly isStatic: boolean;
}

/** Under this name, and the id of the app, Nest keeps the path of a module. It exports it from a place of its own. */
const MODULE_PATH = '__module_path__';

/** The modules of an app that have a controller of a class. */
export function modulesWith(controller: Type, modules: ModulesContainer): Holder[] {
  return [...modules.values()].flatMap(({ metatype, controllers }) => {
    const wrapper = controllers.get(controller);
    if (wrapper === undefined) return [];
    const path = Reflect.getMetadata(MODULE_PATH + modules.applicationId, metatype) as string | undefined;
    const { instance } = wrapper;
    return [
      {
        name: metatype.name,
        path: path ?? '',
        controller: instance,
        isStatic: wrapper.isDependencyTreeStatic(),
      },
    ];
  });
}
