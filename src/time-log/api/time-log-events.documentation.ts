import { DescribesGuarded } from '../../../libs/auth/src/index.js';
import { errorAnswer } from '../../../libs/errors/src/index.js';
import { type Headers, withExamples } from '../../../libs/open-api/src/index.js';
import { FEED_REFUSED } from '../domain/access.js';
import { PAGE_LIMIT } from '../domain/page.js';
import { type CloudEvent, EVENT_SOURCE } from '../wire/cloud-event.js';
import { limitParameter, RECORDED_EXAMPLE, TIME_LOGS_TAG } from './time-log.documentation.js';
import { FEED_GONE } from '../domain/time-log-event.js';
import { EVENT_ID_PATTERN, TIME_LOG_EVENTS } from './time-log.schemas.js';

const idAt = (position: number) => `${position}-${RECORDED_EXAMPLE.id}`;
const id = idAt(84211);
/** An event of the log of the examples. */
const example = (told: Pick<CloudEvent, 'id' | 'type' | 'time' | 'data'>) => ({
  specversion: '1.0',
  source: EVENT_SOURCE,
  subject: RECORDED_EXAMPLE.projectId,
  datacontenttype: 'application/json',
  ...told,
});
const { createdAt } = RECORDED_EXAMPLE;
const CORRECTED = { ...RECORDED_EXAMPLE, duration: 15 };
const DELETED = { id: RECORDED_EXAMPLE.id, projectId: RECORDED_EXAMPLE.projectId };

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
  summary: 'Follow what is recorded, corrected and deleted',
  refusals: [FEED_REFUSED],
  description: [
    'The feed: what happened to logs, as CloudEvents 1.0, oldest first, after `lastEventId`. ' +
      'Ask again and again with the id of the last event that you got; an empty page means that there is nothing new.',
    '**A copy.** Whoever goes on like that, and sets each log under its id, or removes it where it was deleted, has the logs of the service. ' +
      'Whoever begins at the start gets every log once, as it is, and the deletions that are kept. ' +
      'What is corrected moves to the end, as an event with a new `id`. Over SQL too: nobody need call this service. ' +
      'Whoever reads only one project is not told that a log has left it.',
    '**Order.** It never changes and is the same for all, whoever commits when. ' +
      'It is the order of positions, not of `time`. An event appears at the latest when every transaction of the database server has ended that ' +
      'had written something and was open when the log was stored.',
    '**Begin anew.** Old deletions may be forgotten, or old logs, or all, be removed at once. Then a `lastEventId` of before is answered with `410`: ' +
      'read on without it, into an empty copy. It needs a token for all projects.',
  ].join('\n\n'),
  parameters: [
    {
      name: 'lastEventId',
      in: 'query',
      description:
        'The `id` of an event: those after it are answered, also where its log is gone. Without it, from the beginning.',
      schema: withExamples({ type: 'string', pattern: EVENT_ID_PATTERN }, id),
    },
    limitParameter('The most events of the answer.'),
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
              value: [example({ id, type: 'time-log.created', time: createdAt, data: RECORDED_EXAMPLE })],
            },
            corrected: {
              summary: 'Corrected',
              value: [
                example({
                  id: idAt(84305),
                  type: 'time-log.corrected',
                  time: '2026-02-02T08:12:45.678Z',
                  data: CORRECTED,
                }),
              ],
            },
            deleted: {
              summary: 'Deleted',
              value: [
                example({
                  id: idAt(84377),
                  type: 'time-log.deleted',
                  time: '2026-02-03T16:20:00.001Z',
                  data: DELETED,
                }),
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
    410: errorAnswer(FEED_GONE, 'What came after this event is forgotten in part.'),
  },
});
