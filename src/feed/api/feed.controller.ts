import { Controller, Get, Inject, Optional, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Scopes } from '../../../libs/auth/src/index.js';
import { type Served, STATE, StrictQuery } from '../../../libs/strict-request/src/index.js';
import { sendList } from '../../time-log/api/send-response.js';
import { PREPARE_ROUTES, type PrepareRoutes, TimeLogRoutes } from '../../time-log/api/time-log-routes.js';
import { READ } from '../../time-log/time-log.scopes.js';
import { callOptionsOf } from '../../time-log/application/call-options.js';
import { LargeResponseLimiter } from '../../time-log/wire/large-response-limiter.js';
import { FeedService } from '../application/feed.service.js';
import type { TimeLogEvent } from '../domain/time-log-event.js';
import { cloudEventOf, SOURCE_OF_EVENTS } from '../wire/cloud-event.js';
import { ListEventsDto } from './list-events.dto.js';

/** The content type of a page of events (CloudEvents 1.0, JSON batch format). */
const EVENTS_TYPE = 'application/cloudevents-batch+json; charset=utf-8';

/** The feed over HTTP. The route exists only if the store has a feed. */
@Controller('time-logs')
export class FeedController extends TimeLogRoutes {
  constructor(
    private readonly largeResponses: LargeResponseLimiter,
    @Inject(SOURCE_OF_EVENTS) private readonly source: string,
    private readonly service: FeedService,
    @Optional() @Inject(PREPARE_ROUTES) prepare?: PrepareRoutes,
  ) {
    super(prepare);
  }

  @Get('events')
  @Scopes([READ])
  async events(
    @StrictQuery(ListEventsDto) query: ListEventsDto,
    @Req() request: Request & Served,
    @Res() response: Response,
  ): Promise<void> {
    const limit = Number(query.limit);
    const call = callOptionsOf(request[STATE].caller);
    await sendList(this.largeResponses, request, response, {
      limit,
      estimateBytes: () => this.service.weighEvents(query.lastEventId, limit, call),
      make: async () => {
        const events = await this.service.events(query.lastEventId, limit, call);
        const last = events.at(-1)?.id ?? query.lastEventId;
        return {
          list: { before: '[', items: eventJsons(events, this.source), after: ']' },
          link: nextEventsLink(last, limit),
        };
      },
      type: EVENTS_TYPE,
    });
  }
}

function* eventJsons(events: readonly TimeLogEvent[], source: string): Generator<string> {
  for (const event of events) yield JSON.stringify(cloudEventOf(event, source));
}

/** Returns the `Link` header of a page of events. The next page starts after the last event of this one. */
function nextEventsLink(lastEventId: string | undefined, limit: number): string {
  const start = lastEventId === undefined ? '' : `lastEventId=${lastEventId}&`;
  return `<?${start}limit=${limit}>; rel="next"`;
}
