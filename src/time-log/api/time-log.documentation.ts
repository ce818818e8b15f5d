import { DescribesGuarded } from '../../../libs/auth/src/index.js';
import { ERROR_KINDS, errorAnswer, RETRY_AFTER_HEADER } from '../../../libs/errors/src/index.js';
import {
  type Headers,
  type ParameterObject,
  type RequestBodyObject,
  type ResponseObject,
  type TagObject,
  withExamples,
} from '../../../libs/open-api/src/index.js';
import { JSON_BODY_ANSWERS, JSON_BODY_TEXT } from '../../../libs/strict-request/src/index.js';
import { PROJECT_REFUSED } from '../domain/access.js';
import { IDEMPOTENCY_KEY_LENGTH, IDEMPOTENCY_KEY_REUSED } from '../domain/idempotency-key.js';
import { DEFAULT_PAGE, PAGE_LIMIT } from '../domain/page.js';
import { DESCRIPTION_LENGTH } from '../domain/time-log.rules.js';
import { NEW_TIME_LOG, TIME_LOG_LIST, TIME_LOG_RECORDED, UUID_PATTERN } from './time-log.schemas.js';

export const TIME_LOGS_TAG: TagObject = {
  name: 'Time logs',
  description: 'Record work, list what was recorded, sum it, and correct it.',
};

/** Whose logs an answer is made of. */
export const SEEN =
  'A token that may read sees every log of the deployment, or those of the projects that it is bound to.';

/** Examples of a log: as it is sent, listed and answered. */
const sent = {
  projectId: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
  duration: 1.5,
  description: 'Wrote the documentation',
  date: '2026-01-31',
};
const { date, ...rest } = sent;
const id = '019c1363-4a3b-7245-b697-5dec9f548a52';
const createdAt = '2026-01-31T09:30:00.123Z';
const listed = { id, ...rest, createdAt };
export const RECORDED_EXAMPLE = { id, ...rest, date, createdAt };

const PERIOD_FORM =
  '^\\d{4}-\\d{2}-\\d{2}([Tt ]\\d{2}:\\d{2}(:\\d{2}(\\.\\d+)?)?([Zz]|[+\\- ]\\d{2}:\\d{2})?)?$';

/** A link of the `Link` header (RFC 8288) with one of these relations. */
const link = (relations: string) => `<[^<>]+>; rel="(${relations})"`;

/** The `Link` header to pages of this target. */
export function pageLinksHeader(target: string): Headers {
  return {
    Link: {
      description:
        'The first, previous, next and last page (RFC 8288), each with the filters, and with the days that were applied for `from` and `to`.',
      required: true,
      schema: {
        type: 'string',
        pattern: `^${link('first')}(, ${link('prev')})?(, ${link('next')})?, ${link('last')}$`,
        example: `<${target}&page=1&limit=50>; rel="first", <${target}&page=2&limit=50>; rel="next", <${target}&page=3&limit=50>; rel="last"`,
      },
    },
  };
}

const REPLAYED: Headers = {
  'Idempotency-Replayed': {
    description:
      'Present where nothing was recorded: this is the first answer to the `Idempotency-Key`, once more.',
    schema: { type: 'string', enum: ['true'] },
  },
};

/** One end of the period of a list. */
function periodEnd(name: 'from' | 'to', role: string): ParameterObject {
  return {
    name,
    in: 'query',
    description:
      `${role} of the period, included: a day (\`YYYY-MM-DD\`) or an ISO 8601 timestamp, which counts as the day ` +
      'that it names, as written, whatever its offset. Compared with the `date` of the log.',
    schema: withExamples({ type: 'string', pattern: PERIOD_FORM }, '2026-01-01', '2026-01-01T00:00:00Z'),
  };
}

/** Which logs a list, or totals, are about. */
export const FILTER_PARAMETERS: readonly ParameterObject[] = [
  {
    name: 'projectId',
    in: 'query',
    description: 'Only logs of this project: any UUID, in upper or lower case. One without logs is no error.',
    schema: withExamples({ type: 'string', pattern: UUID_PATTERN }, sent.projectId),
  },
  periodEnd('from', 'First day'),
  periodEnd('to', 'Last day'),
];

/** The most items of an answer, as the description says it. */
export function limitParameter(description: string): ParameterObject {
  return {
    name: 'limit',
    in: 'query',
    description,
    schema: { type: 'integer', minimum: 1, maximum: PAGE_LIMIT, default: DEFAULT_PAGE.limit },
  };
}

/** Which page of what the answer holds. */
export function pageParameters(what: 'logs' | 'groups'): readonly ParameterObject[] {
  return [
    {
      name: 'page',
      in: 'query',
      description: 'Number of the page. A page past the end is empty.',
      schema: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER, default: DEFAULT_PAGE.number },
    },
    limitParameter(`The most ${what} that a page holds.`),
  ];
}

/** `GET /time-logs`. */
export const ListDocumentation = DescribesGuarded({
  operationId: 'listTimeLogs',
  tags: [TIME_LOGS_TAG.name],
  summary: 'List time logs',
  refusals: [PROJECT_REFUSED],
  description: [
    'One page of the logs that match all filters, and how many match in all. ' + SEEN,
    '**Order.** Newest work first: by `date` descending, then newest created first, then by `id` descending. ' +
      '`date`, which leads the order, is not in the item. The order is total: the pages of an unchanged set hold each log exactly once.',
    '**Period.** `from` and `to` compare with the `date` of the log, both ends included. A timestamp counts as the whole day that it names: ' +
      '`from=2026-01-01T00:00Z&to=2026-02-01T00:00Z` includes 1 February. The `Link` header shows the days that were applied.',
    '**Strictness.** A filter is never ignored: an unknown or repeated parameter is refused and named.',
  ].join('\n\n'),
  parameters: [...FILTER_PARAMETERS, ...pageParameters('logs')],
  responses: {
    200: {
      description: 'The page.',
      headers: pageLinksHeader('/api/v1/time-logs?from=2026-01-01'),
      content: {
        'application/json': {
          schema: TIME_LOG_LIST,
          examples: {
            page: {
              value: {
                success: true,
                data: [listed],
                meta: { total: 1, page: DEFAULT_PAGE.number, limit: DEFAULT_PAGE.limit },
              },
            },
            pastTheEnd: {
              summary: 'A page past the end',
              value: { success: true, data: [], meta: { total: 1, page: 2, limit: DEFAULT_PAGE.limit } },
            },
          },
        },
      },
    },
    400: errorAnswer(
      'VALIDATION_ERROR',
      'A parameter is malformed, unknown or repeated, or the HTTP is malformed.',
      {
        messages: [
          `limit must be a whole number from 1 to ${PAGE_LIMIT}`,
          'from must be an existing day (YYYY-MM-DD) or an ISO 8601 timestamp',
          'from must not be after to; unknown parameter: project_id',
          ERROR_KINDS.VALIDATION_ERROR.message,
        ],
      },
    ),
  },
});

/** Which log a route is about. */
export const ID_PARAMETER: ParameterObject = {
  name: 'id',
  in: 'path',
  description: 'The `id` of the log, in upper or lower case.',
  schema: withExamples({ type: 'string', pattern: UUID_PATTERN }, id),
};

export const ID_MESSAGES = ['id must be a UUID', 'unknown parameter: fields'];

export const NO_SUCH_LOG = errorAnswer('NOT_FOUND', 'There is no log with this id.', {
  messages: ['there is no time log with this id'],
});

/** The body of an answer with one log. */
export const ONE_LOG: NonNullable<ResponseObject['content']> = {
  'application/json': {
    schema: TIME_LOG_RECORDED,
    examples: { log: { value: { success: true, data: RECORDED_EXAMPLE } } },
  },
};

/** `GET /time-logs/{id}`. */
export const GetDocumentation = DescribesGuarded({
  operationId: 'getTimeLog',
  tags: [TIME_LOGS_TAG.name],
  summary: 'Get a time log',
  description: 'One log, as it was answered to whoever recorded it, or corrected it last. ' + SEEN,
  parameters: [ID_PARAMETER],
  responses: {
    200: {
      description: 'The log.',
      content: ONE_LOG,
    },
    400: errorAnswer('VALIDATION_ERROR', 'The id is malformed, or there is a query.', {
      messages: ID_MESSAGES,
    }),
    404: NO_SUCH_LOG,
  },
});

/** The body of a request with all values of a log. */
export const VALUES_BODY: RequestBodyObject = {
  required: true,
  description: JSON_BODY_TEXT,
  content: {
    'application/json': {
      schema: NEW_TIME_LOG,
      examples: {
        full: { value: sent },
        least: {
          summary: 'Without a description',
          value: { projectId: sent.projectId, duration: sent.duration, date },
        },
      },
    },
  },
};

/** What such a body is refused with. */
export const VALUES_MESSAGES = [
  'duration must be a positive number',
  `projectId must be a UUID; description must be at most ${DESCRIPTION_LENGTH} characters; unknown field: foo`,
  'date must be an existing day in the form YYYY-MM-DD',
  'the request body must be valid JSON',
];

/** `POST /time-logs`. */
export const RecordDocumentation = DescribesGuarded({
  operationId: 'recordTimeLog',
  tags: [TIME_LOGS_TAG.name],
  summary: 'Record a time log',
  refusals: [PROJECT_REFUSED],
  description: [
    'Records a finished piece of work. `201` is answered only after the log is durably stored; a correction and a deletion are operations of their own.',
    '**Unit.** The unit of `duration` is the caller’s: the number is stored and answered as the double that it is.',
    '**Retries.** With an `Idempotency-Key` a request can be repeated safely, for 24 hours: the same key with the same values makes no second log ' +
      'and gets the first answer again, with `Idempotency-Replayed: true`; with other values it is refused with `422`. ' +
      'Of concurrent requests with one key, one makes the log and all get its answer. Keys belong to their token; a request that failed validation uses up none.',
  ].join('\n\n'),
  parameters: [
    {
      name: 'Idempotency-Key',
      in: 'header',
      description: `Names this attempt to record one log, so that it can be repeated: 1 to ${IDEMPOTENCY_KEY_LENGTH} printable ASCII characters, such as a random UUID.`,
      schema: withExamples(
        { type: 'string', minLength: 1, maxLength: IDEMPOTENCY_KEY_LENGTH, pattern: '^[\\x20-\\x7e]+$' },
        '7b1f0e9c-1f0e-4b1f-8e9c-7b1f0e9c1f0e',
      ),
    },
  ],
  requestBody: VALUES_BODY,
  responses: {
    201: {
      description: 'The log, durably stored.',
      headers: REPLAYED,
      content: ONE_LOG,
    },
    400: errorAnswer(
      'VALIDATION_ERROR',
      'A member is missing, malformed or unknown, or the JSON or the HTTP is malformed.',
      {
        messages: [
          ...VALUES_MESSAGES,
          `Idempotency-Key must be 1 to ${IDEMPOTENCY_KEY_LENGTH} printable ASCII characters`,
        ],
      },
    ),
    ...JSON_BODY_ANSWERS,
    422: errorAnswer(
      IDEMPOTENCY_KEY_REUSED,
      'The `Idempotency-Key` was used with other values within the last 24 hours.',
    ),
    503: errorAnswer(
      'SERVICE_UNAVAILABLE',
      'The database is away, the service is overloaded or shuts down. The log may have been recorded: repeat the request with its `Idempotency-Key`.',
      { headers: RETRY_AFTER_HEADER },
    ),
  },
});
