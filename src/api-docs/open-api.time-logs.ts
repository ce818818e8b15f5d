import { ERROR_KINDS } from '../../libs/errors/src/index.js';
import { DEFAULT_LIMITS } from '../../libs/http-edge/src/index.js';
import { DEPTH_LIMIT } from '../../libs/strict-request/src/index.js';
import type { Scope } from '../access-token/index.js';
import { DEFAULT_PAGE, DESCRIPTION_LENGTH, IDEMPOTENCY_KEY_LENGTH, PAGE_LIMIT } from '../time-log/index.js';
import { anyErrors, errorRefs, errorResponse, tokenErrors } from './open-api.errors.js';
import { headerRefs, requestId } from './open-api.headers.js';
import type { Operation, Parameter, PathItem, SecurityRequirement } from './open-api.js';
import { schemaRef } from './open-api.schemas.js';

export const TIME_LOGS_TAG = 'Time logs';

const newTimeLog = {
  projectId: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
  duration: 1.5,
  description: 'Wrote the documentation',
  date: '2026-01-31',
};
const id = '019c1363-4a3b-7245-b697-5dec9f548a52';
const createdAt = '2026-01-31T09:30:00.123Z';
const { date, ...listed } = newTimeLog;

const needs = (scope: Scope): readonly SecurityRequirement[] => [{ bearer: [scope] }];

const PERIOD_FORM =
  '^\\d{4}-\\d{2}-\\d{2}([Tt ]\\d{2}:\\d{2}(:\\d{2}(\\.\\d+)?)?([Zz]|[+\\- ]\\d{2}:\\d{2})?)?$';

/** One end of the period of a list. */
function periodEnd(name: 'from' | 'to', role: string): Parameter {
  return {
    name,
    in: 'query',
    description:
      `${role} of the period, included: a day (\`YYYY-MM-DD\`) or an ISO 8601 timestamp, which counts as the day ` +
      'that it names, as written, whatever its offset. Compared with the `date` of the log.',
    // Examples of the parameter itself would be filled in by the page, as filters that nobody asked for.
    schema: { type: 'string', pattern: PERIOD_FORM, examples: ['2026-01-01', '2026-01-01T00:00:00Z'] },
  };
}

const listTimeLogs: Operation = {
  operationId: 'listTimeLogs',
  tags: [TIME_LOGS_TAG],
  summary: 'List time logs',
  description: [
    'One page of the logs that match all filters, and how many match in all. Every valid token sees every log of the deployment.',
    '**Order.** Newest work first: by `date` descending, then newest created first, then by `id` descending. ' +
      '`date`, which leads the order, is not in the item. The order is total: the pages of an unchanged set hold each log exactly once.',
    '**Period.** `from` and `to` compare with the `date` of the log, both ends included. A timestamp counts as the whole day that it names: ' +
      '`from=2026-01-01T00:00Z&to=2026-02-01T00:00Z` includes 1 February. The `Link` header shows the days that were applied.',
    '**Strictness.** A filter is never ignored: an unknown or repeated parameter is refused and named.',
  ].join('\n\n'),
  security: needs('time-logs:read'),
  parameters: [
    {
      name: 'projectId',
      in: 'query',
      description:
        'Only logs of this project: any UUID, in upper or lower case. One without logs has an empty list.',
      schema: { type: 'string', format: 'uuid' },
    },
    periodEnd('from', 'First day'),
    periodEnd('to', 'Last day'),
    {
      name: 'page',
      in: 'query',
      description: 'Number of the page. A page past the end is empty.',
      schema: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER, default: DEFAULT_PAGE.number },
    },
    {
      name: 'limit',
      in: 'query',
      description: 'The most logs that a page holds.',
      schema: { type: 'integer', minimum: 1, maximum: PAGE_LIMIT, default: DEFAULT_PAGE.limit },
    },
    requestId,
  ],
  responses: {
    200: {
      description: 'The page.',
      headers: headerRefs('Link', 'RateLimit-Policy', 'RateLimit'),
      content: {
        'application/json': {
          schema: schemaRef('TimeLogList'),
          examples: {
            page: {
              value: {
                success: true,
                data: [{ id, ...listed, createdAt }],
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
    ...anyErrors,
    ...tokenErrors,
    ...errorRefs('FORBIDDEN', 'RATE_LIMITED'),
    400: errorResponse(
      'VALIDATION_ERROR',
      'A parameter is malformed, unknown or repeated, or the HTTP is malformed.',
      [
        `limit must be a whole number from 1 to ${PAGE_LIMIT}`,
        'from must be an existing day (YYYY-MM-DD) or an ISO 8601 timestamp',
        'from must not be after to; unknown parameter: project_id',
        ERROR_KINDS.VALIDATION_ERROR.message,
      ],
    ),
  },
};

const recordTimeLog: Operation = {
  operationId: 'recordTimeLog',
  tags: [TIME_LOGS_TAG],
  summary: 'Record a time log',
  description: [
    'Records a finished piece of work. `201` is answered only after the log is durably stored; it can be neither changed nor deleted over HTTP.',
    '**Unit.** The unit of `duration` is the caller’s: the number is stored and answered as it is given.',
    '**Retries.** With an `Idempotency-Key` a request can be repeated safely, for 24 hours: the same key with the same values makes no second log ' +
      'and gets the first answer again, with `Idempotency-Replayed: true`; with other values it is refused with `422`. ' +
      'Of concurrent requests with one key, one makes the log and all get its answer. Keys belong to their token; a request that failed validation uses up none.',
  ].join('\n\n'),
  security: needs('time-logs:write'),
  parameters: [
    {
      name: 'Idempotency-Key',
      in: 'header',
      description: `Names this attempt to record one log, so that it can be repeated: 1 to ${IDEMPOTENCY_KEY_LENGTH} printable ASCII characters, such as a random UUID.`,
      schema: {
        type: 'string',
        minLength: 1,
        maxLength: IDEMPOTENCY_KEY_LENGTH,
        pattern: '^[\\x20-\\x7e]+$',
        examples: ['7b1f0e9c-1f0e-4b1f-8e9c-7b1f0e9c1f0e'],
      },
    },
    requestId,
  ],
  requestBody: {
    required: true,
    description:
      `At most ${DEFAULT_LIMITS.bodyLimit / 1024} KiB of JSON in UTF-8, unless the deployment has set another limit, nested at most ${DEPTH_LIMIT} levels deep. ` +
      'Of a member that is given twice the last one counts.',
    content: {
      'application/json': {
        schema: schemaRef('NewTimeLog'),
        examples: {
          full: { value: newTimeLog },
          least: {
            summary: 'Without a description',
            value: { projectId: newTimeLog.projectId, duration: newTimeLog.duration, date },
          },
        },
      },
    },
  },
  responses: {
    201: {
      description: 'The log, durably stored.',
      headers: headerRefs('Idempotency-Replayed', 'RateLimit-Policy', 'RateLimit'),
      content: {
        'application/json': {
          schema: schemaRef('TimeLogRecorded'),
          examples: { log: { value: { success: true, data: { id, ...listed, date, createdAt } } } },
        },
      },
    },
    ...anyErrors,
    ...tokenErrors,
    ...errorRefs(
      'FORBIDDEN',
      'PAYLOAD_TOO_LARGE',
      'UNSUPPORTED_MEDIA_TYPE',
      'IDEMPOTENCY_KEY_REUSED',
      'RATE_LIMITED',
    ),
    400: errorResponse(
      'VALIDATION_ERROR',
      'A member is missing, malformed or unknown, or the JSON or the HTTP is malformed.',
      [
        'duration must be a positive number',
        `projectId must be a UUID; description must be at most ${DESCRIPTION_LENGTH} characters; unknown field: foo`,
        'date must be an existing day in the form YYYY-MM-DD',
        'the request body must be valid JSON',
        `Idempotency-Key must be 1 to ${IDEMPOTENCY_KEY_LENGTH} printable ASCII characters`,
      ],
    ),
  },
};

/** The operations on time logs. */
export const timeLogPaths: Readonly<Record<string, PathItem>> = {
  '/api/v1/time-logs': { get: listTimeLogs, post: recordTimeLog },
};
