import type { SchemaObject } from '../../../libs/open-api/src/index.js';
import { PAGE_LIMIT } from '../domain/page.js';
import { PAGE_PLACE, recorded, success } from './time-log.schemas.js';

const SUM = {
  count: { type: 'integer', minimum: 0, description: 'How many logs there are.' },
  duration: {
    title: 'ExactSum',
    type: 'number',
    minimum: 0,
    description:
      'The sum of their durations: the exact decimal, written out without exponent and never rounded. Whoever reads it as a double ' +
      'gets the nearest one. After durations such as 1e300 it has hundreds of digits.',
  },
} satisfies Record<string, SchemaObject>;

const PROJECT_TOTAL: SchemaObject = {
  title: 'ProjectTotal',
  type: 'object',
  description: 'The logs of one project.',
  required: ['projectId', 'count', 'duration'],
  properties: { projectId: { ...recorded.projectId, description: 'The project, in lower case.' }, ...SUM },
};

const PERIOD_TOTAL: SchemaObject = {
  title: 'PeriodTotal',
  type: 'object',
  description: 'The logs of one day, week or month: those of the list with the same `from` and `to`.',
  required: ['from', 'to', 'count', 'duration'],
  properties: {
    from: { type: 'string', format: 'date', description: 'The first day, not before that of the filter.' },
    to: { type: 'string', format: 'date', description: 'The last day, not after that of the filter.' },
    ...SUM,
  },
};

const TOTALS_META: SchemaObject = {
  title: 'TotalsMeta',
  type: 'object',
  description: '`count` and `duration` are of all logs that match, on whatever page.',
  required: ['count', 'duration', 'total', 'page', 'limit'],
  properties: {
    ...SUM,
    total: { type: 'integer', minimum: 0, description: 'How many groups there are, on all pages.' },
    ...PAGE_PLACE,
  },
};

export const TOTALS: SchemaObject = {
  title: 'Totals',
  type: 'object',
  required: ['success', 'data', 'meta'],
  properties: {
    success,
    data: {
      type: 'array',
      maxItems: PAGE_LIMIT,
      items: { oneOf: [PROJECT_TOTAL, PERIOD_TOTAL] },
      description: 'The groups of the page; empty without `by`, and past the end.',
    },
    meta: TOTALS_META,
  },
};
