import { UseFilters, UseGuards } from '@nestjs/common';
import { AccessGuard } from '../../../libs/auth/src/index.js';
import { HostErrorFilter } from '../../../libs/errors/src/index.js';
import { RequestRulesGuard } from '../../../libs/strict-request/src/index.js';

/** Prepares a new controller before its routes are read: the host kit disables and describes routes. */
export type PrepareRoutes = (controller: object) => void;

/** The injection token of an optional PrepareRoutes. */
export const PREPARE_ROUTES = Symbol.for('time-logs.PREPARE_ROUTES');

/** The base class of controllers. It has the guard and filter, so that they do not affect other routes. */
@UseGuards(RequestRulesGuard, AccessGuard)
@UseFilters(HostErrorFilter)
export abstract class TimeLogRoutes {
  constructor(prepare?: PrepareRoutes) {
    prepare?.(this);
  }
}
