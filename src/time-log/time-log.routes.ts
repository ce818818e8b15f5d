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

/** The controllers, in the order in which Express tries their routes. */
const CONTROLLERS: Readonly<Record<Capability, Type>> = {
  list: ListTimeLogsController,
  record: RecordTimeLogsController,
  totals: TotalsController,
  events: FeedController,
  export: ExportController,
  correct: CorrectTimeLogController,
  delete: DeleteTimeLogController,
  get: GetTimeLogController,
};

/** Returns the controllers of the enabled capabilities. */
export function controllersOf(routes: EnabledRoutes = {}): Type[] {
  return Object.entries(CONTROLLERS).flatMap(([name, controller]) =>
    routes[name as Capability] === false ? [] : [controller],
  );
}
