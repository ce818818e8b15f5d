import { leaveOut } from '../leave-out.js';

/** What each route is called in the option `routes`, and in its controller. */
export const ROUTES = {
  list: 'GET /time-logs',
  record: 'POST /time-logs',
  totals: 'GET /time-logs/totals',
  events: 'GET /time-logs/events',
  get: 'GET /time-logs/{id}',
  correct: 'PUT /time-logs/{id}',
  delete: 'DELETE /time-logs/{id}',
} as const;

type RouteName = keyof typeof ROUTES;

/** Which routes there are: those that are `false` are left out, also from the documentation. */
export type ChosenRoutes = Readonly<Partial<Record<RouteName, boolean>>>;

/** The ChosenRoutes of a host. */
export const CHOSEN_ROUTES = Symbol.for('time-logs.CHOSEN_ROUTES');

/** Leaves routes out of one instance of a controller. Throws an Error for a name that no route has. */
export function leaveRoutesOut(controller: object, routes: ChosenRoutes): void {
  const names = Object.keys(ROUTES);
  const unknown = Object.keys(routes).find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw new Error(`time logs have no route "${unknown}": routes takes ${names.join(', ')}`);
  }
  leaveOut(
    controller,
    names.filter((name) => routes[name as RouteName] === false),
  );
}

/** The names of the routes that an instance has. */
export function routesOf(controller: object): RouteName[] {
  return (Object.keys(ROUTES) as RouteName[]).filter((name) => Reflect.get(controller, name) !== undefined);
}
