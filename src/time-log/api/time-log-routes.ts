import { UseFilters, UseGuards } from '@nestjs/common';
import { AccessGuard } from '../../../libs/auth/src/index.js';
import { HostErrorFilter } from '../../../libs/errors/src/index.js';
import { RequestRulesGuard } from '../../../libs/strict-request/src/index.js';
import { type EnabledRoutes, disableRoutes } from './enabled-routes.js';
import { describeController, type HostDocument } from './host-document.js';

/** The base class of controllers. It has the guard and filter, so that they do not affect other routes. */
@UseGuards(RequestRulesGuard, AccessGuard)
@UseFilters(HostErrorFilter)
export abstract class TimeLogRoutes {
  constructor(document: HostDocument | false, routes: EnabledRoutes) {
    disableRoutes(this, routes);
    if (document) describeController(document, this);
  }
}
