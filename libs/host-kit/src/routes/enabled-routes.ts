import { hideMethods } from '../../../open-api/src/index.js';

/** The routes, by their names in the option `routes` and in their controllers. */
export const ROUTES = {
  list: 'GET /time-logs',
  record: 'POST /time-logs',
  recordAll: 'POST /time-logs/batch',
  totals: 'GET /time-logs/totals',
  events: 'GET /time-logs/events',
  export: 'GET /time-logs/export',
  get: 'GET /time-logs/{id}',
  correct: 'PUT /time-logs/{id}',
  patch: 'PATCH /time-logs/{id}',
  delete: 'DELETE /time-logs/{id}',
} as const;

type RouteName = keyof typeof ROUTES;

/**
 * The routes that an app has. `false` disables a route and removes it from the documentation: `record` also
 * `recordAll`, `correct` also `patch`, and `list` also `export`, unless they are set.
 */
export type EnabledRoutes = Readonly<Partial<Record<RouteName, boolean>>>;

/** Disables routes of one instance of a controller. Throws an Error for an unknown name. */
export function disableRoutes(controller: object, routes: EnabledRoutes): void {
  const names = Object.keys(ROUTES);
  const unknown = Object.keys(routes).find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new Error(`time logs have no route "${unknown}": routes takes ${names.join(', ')}`);
  // A host that disabled the earlier one must not get the later one by an upgrade.
  const all = { recordAll: routes.record, patch: routes.correct, export: routes.list, ...routes };
  hideMethods(
    controller,
    names.filter((name) => all[name as RouteName] === false),
  );
}

/** Returns the names of the routes of a controller. */
export function routesOf(controller: object): RouteName[] {
  return (Object.keys(ROUTES) as RouteName[]).filter((name) => Reflect.get(controller, name) !== undefined);
}
