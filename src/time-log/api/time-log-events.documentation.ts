import { DescribesGuarded } from '../../../libs/auth/src/index.js';
import { errorAnswer } from '../../../libs/errors/src/index.js';
import { type Headers, withExamples } from '../../../libs/open-api/src/index.js';
import { DEFAULT_PAGE, PAGE_LIMIT } from '../domain/page.js';
import { EVENT_SOURCE, EVENT_TYPE } from '../wire/cloud-event.js';
import { RECORDED_EXAMPLE, TIME_LOGS_TAG } from './time-log.documentation.js';
import { EVENT_ID_PATTERN, TIME_LOG_EVENTS } from './time-log.schemas.js';

const id = `84211-${RECORDED_EXAMPLE.id}`;

const LINK: Headers = {
  Link: {
    description:
      'The next page (RFC 8288): from the last event of this one, or from the same place where there was nothing new.',
    required: true,
    schema: {
      type: 'string',
      pattern: '^<[^<>]+>; rel="next"$',
      example: `</api/v1/time-logs/events?lastEventId=${id}&limit=50>; rel="next"`,
    },
  },
};

/** `GET /time-logs/events`. */
export const EventsDocumentation = DescribesGuarded({
  operationId: 'listTimeLogEvents',
  tags: [TIME_LOGS_TAG.name],
  summary: 'Follow what is recorded',
  description: [
    'The feed: an event for each recorded log, as CloudEvents 1.0, oldest first, those after `lastEventId`. ' +
      'Ask again and again with the id of the last event that you got; an empty page means that there is nothing new.',
    '**Every log once.** Whoever goes on like that gets every log once, in an order that never changes and is the same for all, whoever commits when. ' +
      'It is the order of positions, not of `time`. An event appears at the latest when every transaction of the database server has ended that ' +
      'had written something and was open when the log was stored.',
    '**Corrections.** A log that was deleted by SQL is not there any more; one that was corrected is there as it is now. ' +
      'A token that may read sees every log of the deployment.',
  ].join('\n\n'),
  parameters: [
    {
      name: 'lastEventId',
      in: 'query',
      description:
        'The `id` of an event: those after it are answered, also where its log is gone. Without it, from the beginning.',
      schema: withExamples({ type: 'string', pattern: EVENT_ID_PATTERN }, id),
    },
    {
      name: 'limit',
      in: 'query',
      description: 'The most events of the answer.',
      schema: { type: 'integer', minimum: 1, maximum: PAGE_LIMIT, default: DEFAULT_PAGE.limit },
    },
  ],
  responses: {
    200: {
      description: 'The next events.',
      headers: LINK,
      content: {
        'application/cloudevents-batch+json': {
          schema: TIME_LOG_EVENTS,
          examples: {
            events: {
              value: [
                {
                  specversion: '1.0',
                  id,
                  source: EVENT_SOURCE,
                  type: EVENT_TYPE,
                  subject: RECORDED_EXAMPLE.projectId,
                  time: RECORDED_EXAMPLE.createdAt,
                  datacontenttype: 'application/json',
                  data: RECORDED_EXAMPLE,
                },
              ],
            },
            nothingNew: { summary: 'Nothing new', value: [] },
          },
        },
      },
    },
    400: errorAnswer('VALIDATION_ERROR', 'A parameter is malformed, unknown or repeated.', {
      messages: [
        'lastEventId must be the id of an event',
        `limit must be a whole number from 1 to ${PAGE_LIMIT}`,
        'unknown parameter: page',
      ],
    }),
  },
});
