/**
 * Leaves routes or message patterns out of one instance of a controller, by the names of their methods: Nest, and its
 * documentation, look for them in the prototype of the instance, and take what comes first there.
 */
export function leaveOut(controller: object, names: readonly string[]): void {
  const prototype = Object.create(Object.getPrototypeOf(controller) as object) as object;
  for (const name of names) Object.defineProperty(prototype, name, { value: undefined });
  Object.setPrototypeOf(controller, prototype);
}
