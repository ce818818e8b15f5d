import type { Application, NextFunction, Request, Response } from 'express';

/** A route of an app, as the router stores it. */
export interface Route {
  readonly path: string;
  /** Methods by name in lower case; `_all` if the route takes any. */
  readonly methods: Readonly<Record<string, boolean>>;
  /** The handlers. Nest puts the metadata of the controller's method on them. */
  readonly stack: readonly { readonly handle: (...parameters: never[]) => unknown }[];
}

/**
 * Returns the routes of an app, or those that take a path. Wildcards (the edge's own controller, a middleware) do not
 * count: they make no path known.
 */
export function routesOf(app: Application, path?: string): Route[] {
  const routes = app.router.stack
    .map(({ route }) => route as Route | undefined)
    .filter((route) => route !== undefined)
    .filter((route) => !route.path.includes('*'));
  if (path === undefined) return routes;
  const matching = routes.filter((route) => matches(route.path, path));
  const fixed = matching.filter((route) => !route.path.includes(':'));
  return fixed.length > 0 ? fixed : matching;
}

/**
 * Keeps routes with a parameter off paths that have a route of their own: if `GET /logs/totals` is known, a
 * `PUT /logs/{id}` would take `PUT /logs/totals`, and `totals` for an id (OpenAPI 3.1.1, section 4.8.8.2).
 */
export function preferFixedPaths(app: Application): void {
  const paths = routesOf(app).map((route) => route.path);
  const fixed = new Set(paths.filter((path) => !path.includes(':')).map(plain));
  const skip = ({ path }: Request, _response: Response, next: NextFunction) =>
    fixed.has(plain(path)) ? next('route') : next();
  const parameters = new Set(paths.flatMap((path) => path.match(/(?<=:)\w+/g) ?? []));
  for (const parameter of parameters) app.param(parameter, skip);
}

/** Whether a route takes a path. A parameter is a whole segment. */
function matches(route: string, path: string): boolean {
  const [expected, segments] = [plain(route).split('/'), plain(path).split('/')];
  return (
    expected.length === segments.length &&
    expected.every((name, index) =>
      name.startsWith(':') ? segments[index] !== '' : segments[index] === name,
    )
  );
}

/** Returns the one form of a path: Express ignores its case and a slash at its end. */
function plain(path: string): string {
  return path.toLowerCase().replace(/\/$/, '');
}

/** The methods that at least one of the routes takes, sorted. Express answers HEAD wherever it answers GET. */
export function methodsOf(routes: readonly Route[]): string[] {
  const methods = new Set(routes.flatMap((route) => Object.keys(route.methods)));
  if (methods.has('get')) methods.add('head');
  return [...methods].map((method) => method.toUpperCase()).sort();
}
