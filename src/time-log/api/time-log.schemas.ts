import type { SchemaObject } from '../../../libs/open-api/src/index.js';
import { DEFAULT_PAGE, PAGE_LIMIT } from '../domain/page.js';
import { type CloudEvent, EVENT_SOURCE } from '../wire/cloud-event.js';
import { EVENT_ID_FORM } from '../domain/time-log-event.js';
import { DESCRIPTION_LENGTH, UUID_FORM } from '../domain/time-log.rules.js';
import { LISTED_FIELDS } from '../wire/time-log-bodies.js';
import { type StoredTimeLog, TIME_LOG_FIELDS } from '../domain/time-log.js';

/** Any UUID. With `format: uuid` generators would refuse versions that they do not know. */
export const UUID_PATTERN = `^${UUID_FORM}$`;

const DESCRIPTION = `What was done, kept exactly as sent: at most ${DESCRIPTION_LENGTH} characters (code points), none of them U+0000 or a lone surrogate.`;

/** Each member of a log in the answer to a create. */
export const recorded = {
  id: {
    type: 'string',
    format: 'uuid',
    description: 'Made by the service: a UUIDv7, whose time part is the instant of `createdAt`.',
  },
  projectId: {
    type: 'string',
    pattern: UUID_PATTERN,
    description:
      'The project that the log belongs to: any UUID, whatever its version, in upper or lower case. ' +
      'Projects live elsewhere: whether it exists is not checked. Answered in lower case.',
  },
  duration: {
    type: 'number',
    format: 'double',
    minimum: 0,
    exclusiveMinimum: true,
    description:
      'How long the work took: any finite number greater than 0, as a double (IEEE 754): beyond 15 digits it may be answered rounded. The unit is the caller’s.',
  },
  description: { type: 'string', maxLength: DESCRIPTION_LENGTH, description: DESCRIPTION },
  date: {
    type: 'string',
    format: 'date',
    description: 'The day of the work: one that exists, in the years 0001 to 9999, past or future.',
  },
  createdAt: {
    type: 'string',
    format: 'date-time',
    pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$',
    description: 'When the log was recorded, in UTC with milliseconds.',
  },
} satisfies Record<Exclude<keyof StoredTimeLog, 'attributes'> | 'createdAt', SchemaObject>;
const listed = only('id', ...LISTED_FIELDS, 'createdAt');
const sent = only(...(Object.keys(TIME_LOG_FIELDS) as (keyof typeof TIME_LOG_FIELDS)[]));
export const success: SchemaObject = { type: 'boolean', enum: [true] };

// Bodies of requests are closed: the service refuses unknown members. Bodies of answers may get members later.

export const NEW_TIME_LOG: SchemaObject = {
  title: 'NewTimeLog',
  type: 'object',
  description: 'A log to be recorded. A member that is not named here is refused.',
  required: ['projectId', 'duration', 'date'],
  properties: {
    ...sent,
    description: { ...recorded.description, description: `${DESCRIPTION} Missing, it is empty.` },
  },
  additionalProperties: false,
};

const TIME_LOG: SchemaObject = {
  title: 'TimeLog',
  type: 'object',
  description:
    'A log as it is listed. Its `date`, by which a list is filtered and ordered, is not part of the item.',
  required: Object.keys(listed),
  properties: listed,
};

const RECORDED_TIME_LOG: SchemaObject = {
  title: 'RecordedTimeLog',
  type: 'object',
  description: 'A log as it is answered to whoever recorded it.',
  required: Object.keys(recorded),
  properties: recorded,
};

export const TIME_LOG_RECORDED: SchemaObject = {
  title: 'TimeLogRecorded',
  type: 'object',
  required: ['success', 'data'],
  properties: { success, data: RECORDED_TIME_LOG },
};

/** What every answer with a page says of it. */
export const PAGE_PLACE: Readonly<Record<'page' | 'limit', SchemaObject>> = {
  page: {
    type: 'integer',
    minimum: 1,
    description: `Number of this page, ${DEFAULT_PAGE.number} for the first.`,
  },
  limit: { type: 'integer', minimum: 1, maximum: PAGE_LIMIT, description: 'The most that a page holds.' },
};

const PAGE_META: SchemaObject = {
  title: 'PageMeta',
  type: 'object',
  required: ['total', 'page', 'limit'],
  properties: {
    total: { type: 'integer', minimum: 0, description: 'How many logs match the filters, on all pages.' },
    ...PAGE_PLACE,
  },
};

export const TIME_LOG_LIST: SchemaObject = {
  title: 'TimeLogList',
  type: 'object',
  required: ['success', 'data', 'meta'],
  properties: {
    success,
    data: {
      type: 'array',
      maxItems: PAGE_LIMIT,
      items: TIME_LOG,
      description: 'The logs of the page, newest work first; empty past the end.',
    },
    meta: PAGE_META,
  },
};

interface EventTexts {
  readonly description: string;
  readonly subject: string;
  readonly time: string;
  readonly data: SchemaObject;
}

/** A position, and the id of a log. */
export const EVENT_ID_PATTERN = `^${EVENT_ID_FORM}$`;

const eventOf = (title: string, types: readonly CloudEvent['type'][], about: EventTexts): SchemaObject => ({
  title,
  type: 'object',
  description: `${about.description} (CloudEvents 1.0, JSON format).`,
  required: ['specversion', 'id', 'source', 'type', 'subject', 'time', 'datacontenttype', 'data'],
  properties: {
    specversion: { type: 'string', enum: ['1.0'] },
    id: {
      type: 'string',
      pattern: EVENT_ID_PATTERN,
      description: 'Never changes, and says where to go on: give it as `lastEventId`.',
    },
    source: { type: 'string', enum: [EVENT_SOURCE] },
    type: { type: 'string', enum: [...types] },
    subject: { ...recorded.projectId, description: about.subject },
    time: { ...recorded.createdAt, description: `${about.time} The order of events is another.` },
    datacontenttype: { type: 'string', enum: ['application/json'] },
    data: about.data,
  },
});

const TIME_LOG_EVENT: SchemaObject = {
  title: 'TimeLogEvent',
  description: 'What happened to a log: set it in your copy under its id, or remove it.',
  oneOf: [
    eventOf('TimeLogStored', ['time-log.created', 'time-log.corrected'], {
      description: 'A log was recorded, or corrected: `data` has it as it is',
      subject: 'The project of the log.',
      time: 'When that happened.',
      data: RECORDED_TIME_LOG,
    }),
    eventOf('TimeLogDeleted', ['time-log.deleted'], {
      description: 'A log was deleted',
      subject: 'The last project of the log.',
      time: 'When the log was deleted.',
      data: {
        title: 'DeletedTimeLog',
        type: 'object',
        description: 'What is left of a log that was deleted.',
        required: ['id', 'projectId'],
        properties: only('id', 'projectId'),
      },
    }),
  ],
};

export const TIME_LOG_EVENTS: SchemaObject = {
  title: 'TimeLogEvents',
  type: 'array',
  maxItems: PAGE_LIMIT,
  items: TIME_LOG_EVENT,
  description: 'The events in the order of the feed; empty where there is nothing new.',
};

function only(...names: (keyof typeof recorded)[]): Record<string, SchemaObject> {
  return Object.fromEntries(names.map((name) => [name, recorded[name]]));
}
