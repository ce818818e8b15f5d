import type { Abstract } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';

/** A controller and its module. */
interface ModuleController {
  /** The name of the module's class. */
  readonly name: string;
  /** The path at which RouterModule mounts the module, or an empty string. */
  readonly path: string;
  readonly controller: object;
  /** False if a dependency of the controller is request-scoped. */
  readonly isStatic: boolean;
}

/** Nest stores the path of a module under this key, followed by the id of the app. It does not export the key. */
const MODULE_PATH = '__module_path__';

/** Returns the controllers of an app that are instances of a class, with their modules. */
export function modulesProviding(
  controller: Abstract<object>,
  modules: ModulesContainer,
): ModuleController[] {
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

/**
 * Hides methods of one instance of a controller, so that it has no such routes or message patterns. Nest and its
 * documentation read methods from the prototype of the instance.
 */
export function hideMethods(controller: object, names: readonly string[]): void {
  const prototype = Object.create(Object.getPrototypeOf(controller) as object) as object;
  for (const name of names) Object.defineProperty(prototype, name, { value: undefined });
  Object.setPrototypeOf(controller, prototype);
}
