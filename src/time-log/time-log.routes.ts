import type { Type } from '@nestjs/common';
import type { Application, NextFunction, Request, Response } from 'express';
import { ExportController } from '../export/index.js';
import { FeedController } from '../feed/index.js';
import { TotalsController } from '../totals/index.js';
import {
  CorrectTimeLogController,
  DeleteTimeLogController,
  GetTimeLogController,
  ListTimeLogsController,
  RecordTimeLogsController,
} from './api/time-log.controllers.js';

/** A group of routes: `record` also has batches, `correct` also patches. */
type Capability = 'list' | 'record' | 'totals' | 'events' | 'export' | 'correct' | 'delete' | 'get';

/** The capabilities of a module. `false` leaves out the controller of one. */
export type EnabledRoutes = Readonly<Partial<Record<Capability, boolean>>>;

interface CapabilityRoutes {
  readonly controller: Type;
  /** The last segment of a path that is not an id, although the routes with an id match it. */
  readonly path?: string;
  /** The operations in the OpenAPI document. */
  readonly operationIds: readonly string[];
}

/** The routes of each capability. */
const CAPABILITIES: Readonly<Record<Capability, CapabilityRoutes>> = {
  list: { controller: ListTimeLogsController, operationIds: ['listTimeLogs'] },
  record: {
    controller: RecordTimeLogsController,
    path: 'batch',
    operationIds: ['recordTimeLog', 'recordTimeLogs'],
  },
  totals: { controller: TotalsController, path: 'totals', operationIds: ['totalTimeLogs'] },
  events: { controller: FeedController, path: 'events', operationIds: ['listTimeLogEvents'] },
  export: { controller: ExportController, path: 'export', operationIds: ['exportTimeLogs'] },
  correct: { controller: CorrectTimeLogController, operationIds: ['correctTimeLog', 'patchTimeLog'] },
  delete: { controller: DeleteTimeLogController, operationIds: ['deleteTimeLog'] },
  get: { controller: GetTimeLogController, operationIds: ['getTimeLog'] },
};

/** Returns the enabled capabilities. */
export function enabledCapabilities(routes: EnabledRoutes = {}) {
  return Object.entries(CAPABILITIES).flatMap(([name, capability]) =>
    routes[name as Capability] === false ? [] : [capability],
  );
}

const PATHS = Object.values(CAPABILITIES).flatMap(({ path }) => path ?? []);
const OWN_PATH = new RegExp(`/(${PATHS.join('|')})/?$`, 'i');

/**
 * Keeps the routes with an id off the paths of other capabilities (OpenAPI 3.1.1, section 4.8.8.2), for all methods,
 * also if a host leaves these out.
 */
export function preferOwnPaths(app: Application): void {
  app.param('id', ({ route, path }: Request, _response: Response, next: NextFunction) => {
    const isOurs = (route as { readonly path: string }).path.endsWith('/time-logs/:id');
    next(isOurs && OWN_PATH.test(path) ? 'route' : undefined);
  });
}
