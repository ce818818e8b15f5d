import {
  Controller,
  Delete,
  Get,
  Inject,
  Optional,
  Post,
  Put,
  Req,
  Res,
  UseFilters,
  UseGuards,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { AccessGuard, callerOf, Scopes } from '../../../libs/auth/src/index.js';
import { HostErrorFilter } from '../../../libs/errors/src/index.js';
import {
  RequestRulesGuard,
  stateOf,
  StrictBody,
  StrictHeaders,
  StrictPath,
  StrictQuery,
  withinDeadline,
} from '../../../libs/strict-request/src/index.js';
import { CORRECT, READ, WRITE } from '../time-log.scopes.js';
import { TimeLogService } from '../application/time-log.service.js';
import { keyOf } from '../domain/idempotency-key.js';
import { idFault } from '../domain/time-log.rules.js';
import { callOf } from '../wire/call-of.js';
import { valuesOf } from '../wire/attributes-member.js';
import { EVENTS_TYPE, SOURCE_OF_EVENTS } from '../wire/cloud-event.js';
import { CreateTimeLogDto } from '../wire/create-time-log.dto.js';
import { LargeAnswers } from '../wire/large-answers.js';
import { ListEventsDto } from '../wire/list-events.dto.js';
import { criteriaOf, ListTimeLogsDto } from '../wire/list-time-logs.dto.js';
import { eventsJson, listJson, logJson } from '../wire/time-log-json.js';
import { totalsJson } from '../wire/time-log-totals.js';
import { TotalTimeLogsDto } from '../wire/total-time-logs.dto.js';
import { CHOSEN_ROUTES, type ChosenRoutes, leaveOut } from './chosen-routes.js';
import { describeIn, HOST_DOCUMENT, type HostDocument } from './host-document.js';
import { nextEventsLink, pageLinks } from './page-links.js';
import { RecordTimeLogHeaders } from './record-time-log.headers.js';
import { sendJson } from './send-json.js';
import { sendList } from './send-list.js';

/** Time logs over HTTP. It brings guard and filter, its own or those of its host, and so leaves other routes alone. */
@Controller('time-logs')
@UseGuards(RequestRulesGuard, AccessGuard)
@UseFilters(HostErrorFilter)
export class TimeLogController {
  constructor(
    private readonly timeLogs: TimeLogService,
    private readonly largeAnswers: LargeAnswers,
    @Inject(SOURCE_OF_EVENTS) private readonly source: string,
    @Inject(HOST_DOCUMENT) document: HostDocument | false,
    @Optional() @Inject(CHOSEN_ROUTES) routes: ChosenRoutes = {},
  ) {
    leaveOut(this, routes);
    if (document) describeIn(document, this);
  }

  @Get()
  @Scopes([READ])
  async list(
    @StrictQuery(ListTimeLogsDto) query: ListTimeLogsDto,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const { filter, page } = criteriaOf(query);
    const call = callOf(callerOf(request));
    await sendList(this.largeAnswers, request, response, {
      limit: page.limit,
      weigh: () => this.timeLogs.weigh(filter, page, call),
      make: async () => {
        const found = await this.timeLogs.items(filter, page, call);
        return { list: listJson(found, page), link: pageLinks(pathOf(request), filter, page, found.total) };
      },
    });
  }

  // Before routes that are asked for less: Express tries them in this order.
  @Post()
  @Scopes([WRITE])
  async record(
    @StrictHeaders(RecordTimeLogHeaders) headers: RecordTimeLogHeaders,
    @StrictBody(CreateTimeLogDto) body: CreateTimeLogDto,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const call = callOf(callerOf(request));
    const values = valuesOf(body, stateOf(request));
    const text = headers['Idempotency-Key'];
    if (text === undefined) {
      const log = await withinDeadline(request, this.timeLogs.record(values, call));
      stateOf(request).change = { kind: 'record', id: log.id };
      sendJson(response, 201, logJson(log));
      return;
    }
    const key = keyOf(call.caller?.id, text);
    const { log, isReplay } = await withinDeadline(request, this.timeLogs.recordOnce(values, key, call));
    if (isReplay) response.setHeader('Idempotency-Replayed', 'true');
    else stateOf(request).change = { kind: 'record', id: log.id };
    sendJson(response, 201, logJson(log));
  }

  // `totals` and `events` come before the route of an id, which would take them.
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
      this.timeLogs.totals(filter, by, page, callOf(callerOf(request))),
    );
    response.setHeader('Link', pageLinks(pathOf(request), { ...filter, by }, page, totals.groupCount));
    sendJson(response, 200, totalsJson(totals, page));
  }

  @Get('events')
  @Scopes([READ])
  async events(
    @StrictQuery(ListEventsDto) query: ListEventsDto,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const limit = Number(query.limit);
    const call = callOf(callerOf(request));
    await sendList(this.largeAnswers, request, response, {
      limit,
      weigh: () => this.timeLogs.weighEvents(query.lastEventId, limit, call),
      make: async () => {
        const events = await this.timeLogs.events(query.lastEventId, limit, call);
        const last = events.at(-1)?.id ?? query.lastEventId;
        return { list: eventsJson(events, this.source), link: nextEventsLink(pathOf(request), last, limit) };
      },
      type: EVENTS_TYPE,
    });
  }

  @Get(':id')
  @Scopes([READ])
  async get(
    @StrictPath('id', idFault) id: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    sendJson(
      response,
      200,
      logJson(await withinDeadline(request, this.timeLogs.get(id, callOf(callerOf(request))))),
    );
  }

  @Put(':id')
  @Scopes([CORRECT])
  async correct(
    @StrictPath('id', idFault) id: string,
    @StrictBody(CreateTimeLogDto) body: CreateTimeLogDto,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    stateOf(request).change = { kind: 'correct', id: id.toLowerCase() };
    const values = valuesOf(body, stateOf(request));
    const corrected = this.timeLogs.correct(id, values, callOf(callerOf(request)));
    sendJson(response, 200, logJson(await withinDeadline(request, corrected)));
  }

  @Delete(':id')
  @Scopes([CORRECT])
  async delete(
    @StrictPath('id', idFault) id: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    stateOf(request).change = { kind: 'delete', id: id.toLowerCase() };
    await withinDeadline(request, this.timeLogs.delete(id, callOf(callerOf(request))));
    response.writeHead(204).end();
  }
}

/** The path that a request has named. */
function pathOf({ originalUrl }: Request): string {
  return originalUrl.split('?')[0]!;
}
