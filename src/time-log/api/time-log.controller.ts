import { Controller, Get, Post, Req, Res, UseFilters, UseGuards } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AccessGuard, callerOf, Scopes } from '../../../libs/auth/src/index.js';
import { HostErrorFilter } from '../../../libs/errors/src/index.js';
import {
  RequestBoundsGuard,
  StrictBody,
  StrictHeaders,
  StrictPath,
  StrictQuery,
  withinDeadline,
} from '../../../libs/strict-request/src/index.js';
import { READ, WRITE } from '../time-log.scopes.js';
import { TimeLogService } from '../application/time-log.service.js';
import { keyOf } from '../domain/idempotency-key.js';
import { idFault } from '../domain/time-log.rules.js';
import { EVENTS_TYPE } from '../wire/cloud-event.js';
import { CreateTimeLogDto } from '../wire/create-time-log.dto.js';
import { ListEventsDto } from '../wire/list-events.dto.js';
import { criteriaOf, ListTimeLogsDto } from '../wire/list-time-logs.dto.js';
import { eventsJson, listJson, logJson, textOf } from '../wire/time-log-json.js';
import { BigLists } from './big-lists.js';
import { nextEventsLink, pageLinks } from './page-links.js';
import { RecordTimeLogHeaders } from './record-time-log.headers.js';
import { EventsDocumentation } from './time-log-events.documentation.js';
import { GetDocumentation, ListDocumentation, RecordDocumentation } from './time-log.documentation.js';
import { sendJson } from './send-json.js';

/** Time logs over HTTP. It brings guard and filter, its own or those of its host, and so does not touch
 * other routes. */
@Controller('time-logs')
@UseGuards(RequestBoundsGuard, AccessGuard)
@UseFilters(HostErrorFilter)
export class TimeLogController {
  constructor(
    private readonly timeLogs: TimeLogService,
    private readonly bigLists: BigLists,
  ) {}

  @Get()
  @Scopes([READ])
  @ListDocumentation
  async list(
    @StrictQuery(ListTimeLogsDto) query: ListTimeLogsDto,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const { filter, page } = criteriaOf(query);
    const make = async () => {
      const found = await this.timeLogs.list(filter, page);
      const [path = ''] = request.originalUrl.split('?');
      response.setHeader('Link', pageLinks(path, filter, page, found.total));
      return listJson(found, page);
    };
    if (this.bigLists.isBig(page)) await this.bigLists.send(request, response, make);
    else sendJson(response, 200, textOf(await withinDeadline(request, make())));
  }

  // Before routes that are asked for less: Express tries them in this order.
  @Post()
  @Scopes([WRITE])
  @RecordDocumentation
  async record(
    @StrictHeaders(RecordTimeLogHeaders) headers: RecordTimeLogHeaders,
    @StrictBody(CreateTimeLogDto) body: CreateTimeLogDto,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const text = headers['Idempotency-Key'];
    if (text === undefined) {
      sendJson(response, 201, logJson(await withinDeadline(request, this.timeLogs.record(body))));
      return;
    }
    const key = keyOf(callerOf(request)?.id, text);
    const { log, isReplay } = await withinDeadline(request, this.timeLogs.recordOnce(body, key));
    if (isReplay) response.setHeader('Idempotency-Replayed', 'true');
    sendJson(response, 201, logJson(log));
  }

  // Before the route of an id, which would take it.
  @Get('events')
  @Scopes([READ])
  @EventsDocumentation
  async events(
    @StrictQuery(ListEventsDto) query: ListEventsDto,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const limit = Number(query.limit);
    const make = async () => {
      const events = await this.timeLogs.events(query.lastEventId, limit);
      const [path = ''] = request.originalUrl.split('?');
      response.setHeader('Link', nextEventsLink(path, events.at(-1)?.id ?? query.lastEventId, limit));
      return eventsJson(events);
    };
    if (this.bigLists.isBig({ limit })) await this.bigLists.send(request, response, make, EVENTS_TYPE);
    else sendJson(response, 200, textOf(await withinDeadline(request, make())), EVENTS_TYPE);
  }

  @Get(':id')
  @Scopes([READ])
  @GetDocumentation
  async get(
    @StrictPath('id', idFault) id: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    sendJson(response, 200, logJson(await withinDeadline(request, this.timeLogs.get(id))));
  }
}
