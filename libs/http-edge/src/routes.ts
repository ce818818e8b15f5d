import type { Application } from 'express';

/** A route of an app, as the router stores it. */
export interface Route {
  readonly path: string;
  /** Methods by name in lower case; `_all` where the route takes any. */
  readonly methods: Readonly<Record<string, boolean>>;
  /** The handlers. Nest puts the metadata of the controller's method on them. */
  readonly stack: readonly { readonly handle: (...parameters: never[]) => unknown }[];
}

interface Layer {
  readonly route?: Route;
  match(path: string): boolean;
}

/**
 * The routes of an app, or those that match a path by the router's own rules. Wildcards (the edge's own controller, a
 * middleware) do not count: they make no path known.
 */
export function routesOf(app: Application, path?: string): Route[] {
  return layersOf(app)
    .filter((layer) => path === undefined || layer.match(path))
    .map(({ route }) => route!);
}

function layersOf(app: Application): Layer[] {
  const layers = (app.router as unknown as { stack: Layer[] }).stack;
  return layers.filter(({ route }) => route && !route.path.includes('*'));
}

/**
 * Keeps routes with a parameter off paths that have a route of their own: where `GET /logs/totals` is known, a
 * `PUT /logs/{id}` would take `PUT /logs/totals`, and `totals` for an id (OpenAPI 3.1.1, section 4.8.8.2).
 */
export function preferFixedPaths(app: Application): void {
  const layers = layersOf(app);
  const fixed = layers.filter(({ route }) => !route!.path.includes(':'));
  for (const layer of layers) {
    const match = layer.match.bind(layer);
    const others = fixed.filter((other) => other !== layer && match(other.route!.path));
    if (!layer.route!.path.includes(':') || others.length === 0) continue;
    layer.match = (path) => !others.some((other) => other.match(path)) && match(path);
  }
}

/** The methods that at least one of the routes takes, sorted. Express answers HEAD wherever it answers GET. */
export function methodsOf(routes: readonly Route[]): string[] {
  const methods = new Set(routes.flatMap((route) => Object.keys(route.methods)));
  if (methods.has('get')) methods.add('head');
  return [...methods].map((method) => method.toUpperCase()).sort();
}
