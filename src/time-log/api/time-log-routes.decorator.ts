import { applyDecorators, Controller, UseFilters, UseGuards } from '@nestjs/common';
import { AccessGuard } from '../../../libs/auth/src/index.js';
import { HostErrorFilter } from '../../../libs/errors/src/index.js';

/** Declares a controller of time logs. Its guard and filter do not affect other routes of the app. */
export function TimeLogRoutes(): ClassDecorator {
  return applyDecorators(Controller('time-logs'), UseGuards(AccessGuard), UseFilters(HostErrorFilter));
}
