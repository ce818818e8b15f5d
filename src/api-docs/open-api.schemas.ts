import { ERROR_KINDS } from '../../libs/errors/src/index.js';
import { DEFAULT_PAGE, DESCRIPTION_LENGTH, PAGE_LIMIT } from '../time-log/index.js';
import type { Schema } from './open-api.js';

const id: Schema = {
  type: 'string',
  format: 'uuid',
  description: 'Made by the service: a UUIDv7, whose time part is the instant of `createdAt`.',
};
const projectId: Schema = {
  type: 'string',
  format: 'uuid',
  description:
    'The project that the log belongs to: any UUID, whatever its version, in upper or lower case. ' +
    'Projects live elsewhere: whether it exists is not checked. Answered in lower case.',
};
const duration: Schema = {
  type: 'number',
  exclusiveMinimum: 0,
  description:
    'How long the work took: any finite number greater than 0. The unit is the caller’s: the number is stored and answered as it was given.',
};
const description: Schema = {
  type: 'string',
  maxLength: DESCRIPTION_LENGTH,
  description: `What was done, kept exactly as sent: at most ${DESCRIPTION_LENGTH} characters (code points), none of them U+0000 or a lone surrogate.`,
};
const date: Schema = {
  type: 'string',
  format: 'date',
  description: 'The day of the work: one that exists, in the years 0001 to 9999, past or future.',
};
const createdAt: Schema = {
  type: 'string',
  format: 'date-time',
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$',
  description: 'When the log was recorded, in UTC with milliseconds.',
};
const success: Schema = { const: true, type: 'boolean' };

/** All named schemas. Those of answers are open for members that later versions add; that of the request is closed, as the service is. */
export const schemas = {
  NewTimeLog: {
    type: 'object',
    description: 'A log to be recorded. A member that is not named here is refused.',
    required: ['projectId', 'duration', 'date'],
    properties: {
      projectId,
      duration,
      description: { ...description, description: `${description.description} Missing, it is empty.` },
      date,
    },
    additionalProperties: false,
  },
  TimeLog: {
    type: 'object',
    description:
      'A log as it is listed. Its `date`, by which a list is filtered and ordered, is not part of the item.',
    required: ['id', 'projectId', 'duration', 'description', 'createdAt'],
    properties: { id, projectId, duration, description, createdAt },
  },
  RecordedTimeLog: {
    type: 'object',
    description: 'A log as it is answered to whoever recorded it.',
    required: ['id', 'projectId', 'duration', 'description', 'date', 'createdAt'],
    properties: { id, projectId, duration, description, date, createdAt },
  },
  TimeLogRecorded: {
    type: 'object',
    required: ['success', 'data'],
    properties: { success, data: { $ref: '#/components/schemas/RecordedTimeLog' } },
  },
  TimeLogList: {
    type: 'object',
    required: ['success', 'data', 'meta'],
    properties: {
      success,
      data: {
        type: 'array',
        maxItems: PAGE_LIMIT,
        items: { $ref: '#/components/schemas/TimeLog' },
        description: 'The logs of the page, newest work first; empty past the end.',
      },
      meta: { $ref: '#/components/schemas/PageMeta' },
    },
  },
  PageMeta: {
    type: 'object',
    required: ['total', 'page', 'limit'],
    properties: {
      total: { type: 'integer', minimum: 0, description: 'How many logs match the filters, on all pages.' },
      page: {
        type: 'integer',
        minimum: 1,
        description: `Number of this page, ${DEFAULT_PAGE.number} for the first.`,
      },
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: PAGE_LIMIT,
        description: 'The most logs that a page holds.',
      },
    },
  },
  Error: {
    type: 'object',
    description: 'The body of every answer that is not a success.',
    required: ['success', 'error', 'message'],
    properties: {
      success: { const: false, type: 'boolean' },
      error: {
        type: 'string',
        enum: Object.keys(ERROR_KINDS),
        description: 'For programs: one code for each status.',
      },
      message: {
        type: 'string',
        minLength: 1,
        description:
          'For people: names the field and the rule, several of them joined with `; `, and never repeats a value that was sent.',
      },
    },
  },
} as const satisfies Record<string, Schema>;

/** A reference to a named schema. */
export function schemaRef(name: keyof typeof schemas): Schema {
  return { $ref: `#/components/schemas/${name}` };
}
