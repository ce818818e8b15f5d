import type { Abstract } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';

/** A module of an app, and a controller that it has. */
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

/** Returns the controllers of a class, or of one that extends it, with the modules of the app that have them. */
export function modulesWith(controller: Abstract<object>, modules: ModulesContainer): Holder[] {
  return [...modules.values()].flatMap(({ metatype, controllers }) => {
    const path = Reflect.getMetadata(MODULE_PATH + modules.applicationId, metatype) as string | undefined;
    return [...controllers.values()]
      .filter(({ instance }) => instance instanceof controller)
      .map((wrapper) => ({
        name: metatype.name,
        path: path ?? '',
        controller: wrapper.instance,
        isStatic: wrapper.isDependencyTreeStatic(),
      }));
  });
}
