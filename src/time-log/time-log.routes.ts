import type { Type } from '@nestjs/common';
import type { AbstractHttpAdapter } from '@nestjs/core';
import type { Application, NextFunction, Request, Response } from 'express';
import { EXPORT } from '../export/index.js';
import { FEED } from '../feed/index.js';
import { TOTALS } from '../totals/index.js';
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
  readonly controllers: readonly Type[];
  /** The last segment of a path that is not an id, although the routes with an id match it. */
  readonly path?: string;
  /** The operations in the OpenAPI document. */
  readonly operationIds: readonly string[];
}

/** The routes of each capability. */
const CAPABILITIES: Readonly<Record<Capability, CapabilityRoutes>> = {
  list: { controllers: [ListTimeLogsController], operationIds: ['listTimeLogs'] },
  record: {
    controllers: [RecordTimeLogsController],
    path: 'batch',
    operationIds: ['recordTimeLog', 'recordTimeLogs'],
  },
  totals: { controllers: TOTALS.controllers, path: 'totals', operationIds: ['totalTimeLogs'] },
  events: { controllers: FEED.controllers, path: 'events', operationIds: ['listTimeLogEvents'] },
  export: { controllers: EXPORT.controllers, path: 'export', operationIds: ['exportTimeLogs'] },
  correct: { controllers: [CorrectTimeLogController], operationIds: ['correctTimeLog', 'patchTimeLog'] },
  delete: { controllers: [DeleteTimeLogController], operationIds: ['deleteTimeLog'] },
  get: { controllers: [GetTimeLogController], operationIds: ['getTimeLog'] },
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
export function preferOwnPaths(adapter: AbstractHttpAdapter): void {
  adapter
    .getInstance<Application>()
    .param('id', ({ route, path }: Request, _response: Response, next: NextFunction) => {
      const isOurs = (route as { readonly path: string }).path.endsWith('/time-logs/:id');
      next(isOurs && OWN_PATH.test(path) ? 'route' : undefined);
    });
}
