import { Get, Inject, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { stateOf } from '../../../libs/request-state/src/index.js';
import { Omittable, Rule, StrictQuery } from '../../../libs/strict-request/src/index.js';
import { Scopes } from '../../../libs/auth/src/index.js';
import { DEFAULT_PAGE, pageLimitFault } from '../../time-log/domain/time-log-query.js';
import { projectIdsFault, parseProjectIds } from '../../time-log/domain/time-log.rules.js';
import { lastEventIdFault, type TimeLogEvent } from '../domain/time-log-event.js';
import { LargeLists, sendList } from '../../time-log/api/responses.js';
import { TimeLogRoutes } from '../../time-log/api/time-log-routes.decorator.js';
import { READ } from '../../time-log/time-log.options.js';
import { FeedService } from '../application/feed.service.js';
import type { FeedPage } from '../domain/feed.repository.js';
import { cloudEventOf, SOURCE_OF_EVENTS } from './cloud-event.js';

/** The query of the feed, as text. Error messages follow the order of these fields. */
export class ListEventsDto {
  @Omittable()
  @Rule(lastEventIdFault)
  lastEventId?: string;

  @Rule(pageLimitFault)
  limit = String(DEFAULT_PAGE.limit);

  @Omittable()
  @Rule(projectIdsFault)
  projectId?: string;
}

/** The content type of a page of events (CloudEvents 1.0, JSON batch format). */
const EVENTS_TYPE = 'application/cloudevents-batch+json; charset=utf-8';

/** The feed over HTTP. */
@TimeLogRoutes()
export class FeedController {
  constructor(
    private readonly largeLists: LargeLists,
    @Inject(SOURCE_OF_EVENTS) private readonly source: string,
    private readonly service: FeedService,
  ) {}

  @Get('events')
  @Scopes([READ])
  async events(
    @StrictQuery(ListEventsDto) query: ListEventsDto,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const limit = Number(query.limit);
    const { caller } = stateOf(request);
    const options = {
      caller,
      projectIds: query.projectId === undefined ? undefined : parseProjectIds(query.projectId),
    };
    await sendList(this.largeLists, request, response, {
      limit,
      make: async () => {
        const page = await this.service.page(query.lastEventId, limit, options);
        const isFiltered = options.projectIds !== undefined || caller?.projects !== undefined;
        return {
          list: { before: '[', items: eventJsons(page.events, this.source), after: ']' },
          link: eventLinks(page, limit, options.projectIds, isFiltered),
        };
      },
      type: EVENTS_TYPE,
    });
  }
}

function* eventJsons(events: readonly TimeLogEvent[], source: string): Generator<string> {
  for (const event of events) yield JSON.stringify(cloudEventOf(event, source));
}

/** Returns the `Link` header of a page of events. Only pages of some projects say whether they are the last. */
function eventLinks(
  { next, isLast }: FeedPage,
  limit: number,
  projectIds: readonly string[] | undefined,
  isFiltered: boolean,
): string {
  const start = next === undefined ? '' : `lastEventId=${next}&`;
  const target = `<?${start}limit=${limit}${projectIds === undefined ? '' : `&projectId=${projectIds.join()}`}>`;
  return `${target}; rel="next"${isFiltered && isLast ? `, ${target}; rel="last"` : ''}`;
}
