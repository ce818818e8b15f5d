import { UseFilters, UseGuards } from '@nestjs/common';
import { AccessGuard } from '../../../libs/auth/src/index.js';
import { HostErrorFilter } from '../../../libs/errors/src/index.js';
import { RequestRulesGuard } from '../../../libs/strict-request/src/index.js';
import { type ChosenRoutes, leaveRoutesOut } from './chosen-routes.js';
import { describeIn, type HostDocument } from './host-document.js';

/**
 * A controller with some of the routes of time logs. It brings guard and filter, its own or those of its host, and so
 * leaves other routes alone.
 */
@UseGuards(RequestRulesGuard, AccessGuard)
@UseFilters(HostErrorFilter)
export abstract class TimeLogRoutes {
  constructor(document: HostDocument | false, routes: ChosenRoutes) {
    leaveRoutesOut(this, routes);
    if (document) describeIn(document, this);
  }
}
