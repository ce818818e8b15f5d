import type { Type } from '@nestjs/common';
import { ExportController } from '../export/api/export.controller.js';
import { FeedController } from '../feed/api/feed.controller.js';
import { TotalsController } from '../totals/api/totals.controller.js';
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

/**
 * The controller of each capability, and its operations in the OpenAPI document. Express tries the routes in this
 * order, so that of an id comes last: in a host nothing else keeps it off the paths of others.
 */
const CAPABILITIES: Readonly<
  Record<Capability, { readonly controller: Type; readonly operationIds: readonly string[] }>
> = {
  list: { controller: ListTimeLogsController, operationIds: ['listTimeLogs'] },
  record: { controller: RecordTimeLogsController, operationIds: ['recordTimeLog', 'recordTimeLogs'] },
  totals: { controller: TotalsController, operationIds: ['totalTimeLogs'] },
  events: { controller: FeedController, operationIds: ['listTimeLogEvents'] },
  export: { controller: ExportController, operationIds: ['exportTimeLogs'] },
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
