import { Get, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Scopes } from '../../../libs/auth/src/index.js';
import { withinDeadline, stateOf } from '../../../libs/request-state/src/index.js';
import { StrictQuery } from '../../../libs/strict-request/src/index.js';
import { sendJson } from '../../time-log/api/responses.js';
import { TimeLogRoutes } from '../../time-log/api/time-log-routes.decorator.js';
import { READ } from '../../time-log/time-log.options.js';
import { criteriaOf, pageLinks } from '../../time-log/api/list-time-logs.dto.js';
import { TotalsService } from '../application/totals.service.js';
import { totalsJson } from './time-log-totals.js';
import { TotalTimeLogsDto } from './total-time-logs.dto.js';

/** Totals over HTTP. */
@TimeLogRoutes()
export class TotalsController {
  constructor(private readonly service: TotalsService) {}

  @Get('totals')
  @Scopes([READ])
  async totals(
    @StrictQuery(TotalTimeLogsDto) query: TotalTimeLogsDto,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const { filter, page } = criteriaOf(query);
    const { by } = query;
    const totals = await withinDeadline(
      request,
      this.service.totals(filter, by, page, { caller: stateOf(request).caller }),
    );
    const link = pageLinks({ ...filter, by }, page, totals.groupCount);
    sendJson(response, 200, totalsJson(totals, page), { Link: link });
  }
}
