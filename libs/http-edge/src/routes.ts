import type { Application } from 'express';

/** A route of an app, as the router keeps it. */
export interface Route {
  readonly path: string;
  /** By name in lower case; `_all` where it takes any. */
  readonly methods: Readonly<Record<string, boolean>>;
  /** What runs; Nest puts the metadata of the controller's method on it. */
  readonly stack: readonly { readonly handle: (...parameters: never[]) => unknown }[];
}

interface Layer {
  readonly route?: Route;
  match(path: string): boolean;
}

/**
 * The routes of an app, or those that match a path, as the router itself would match them. A wildcard (the edge's own
 * controller, a middleware) is none: it makes no path known.
 */
export function routesOf(app: Application, path?: string): Route[] {
  const layers = (app.router as unknown as { stack: Layer[] }).stack;
  return layers
    .filter(({ route }) => route && !route.path.includes('*'))
    .filter((layer) => path === undefined || layer.match(path))
    .map(({ route }) => route!);
}

/** The methods that any of the routes takes, sorted. Express answers HEAD wherever it answers GET. */
export function methodsOf(routes: readonly Route[]): string[] {
  const methods = new Set(routes.flatMap((route) => Object.keys(route.methods)));
  if (methods.has('get')) methods.add('head');
  return [...methods].map((method) => method.toUpperCase()).sort();
}
