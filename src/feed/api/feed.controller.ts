import { Controller, Get, Inject, Optional, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { callerOf, Scopes } from '../../../libs/auth/src/index.js';
import { StrictQuery } from '../../../libs/strict-request/src/index.js';
import { CHOSEN_ROUTES, type ChosenRoutes } from '../../time-log/api/chosen-routes.js';
import { HOST_DOCUMENT, type HostDocument } from '../../time-log/api/host-document.js';
import { pathOf } from '../../time-log/api/page-links.js';
import { sendList } from '../../time-log/api/send-list.js';
import { TimeLogRoutes } from '../../time-log/api/time-log-routes.js';
import { READ } from '../../time-log/time-log.scopes.js';
import { callOf } from '../../time-log/wire/call-of.js';
import { LargeAnswers } from '../../time-log/wire/large-answers.js';
import { FeedService } from '../application/feed.service.js';
import type { TimeLogEvent } from '../domain/time-log-event.js';
import { cloudEventOf, SOURCE_OF_EVENTS } from '../wire/cloud-event.js';
import { ListEventsDto } from './list-events.dto.js';

/** The type of a page of events (CloudEvents 1.0, JSON batch format). */
const EVENTS_TYPE = 'application/cloudevents-batch+json; charset=utf-8';

/** The feed over HTTP. An app whose store has none has no such route. */
@Controller('time-logs')
export class FeedController extends TimeLogRoutes {
  constructor(
    private readonly largeAnswers: LargeAnswers,
    @Inject(SOURCE_OF_EVENTS) private readonly source: string,
    @Inject(HOST_DOCUMENT) document: HostDocument | false,
    @Optional() @Inject(CHOSEN_ROUTES) routes: ChosenRoutes = {},
    @Optional() private readonly service?: FeedService,
  ) {
    super(document, service ? routes : { ...routes, events: false });
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
      weigh: () => this.service!.weighEvents(query.lastEventId, limit, call),
      make: async () => {
        const events = await this.service!.events(query.lastEventId, limit, call);
        const last = events.at(-1)?.id ?? query.lastEventId;
        return {
          list: { before: '[', items: eventTexts(events, this.source), after: ']' },
          link: nextEventsLink(pathOf(request), last, limit),
        };
      },
      type: EVENTS_TYPE,
    });
  }
}

function* eventTexts(events: readonly TimeLogEvent[], source: string): Generator<string> {
  for (const event of events) yield JSON.stringify(cloudEventOf(event, source));
}

/** The `Link` header of a page of events: the next one continues after the last event of this one. */
function nextEventsLink(path: string, lastEventId: string | undefined, limit: number): string {
  const place = lastEventId === undefined ? '' : `lastEventId=${lastEventId}&`;
  return `<${path}?${place}limit=${limit}>; rel="next"`;
}
