import { DescribesGuarded } from '../../../libs/auth/src/index.js';
import { errorAnswer } from '../../../libs/errors/src/index.js';
import type { ParameterObject } from '../../../libs/open-api/src/index.js';
import { PROJECT_REFUSED } from '../domain/access.js';
import { DEFAULT_PAGE, PAGE_LIMIT } from '../domain/page.js';
import { GROUPINGS } from '../domain/totals.js';
import {
  FILTER_PARAMETERS,
  pageLinksHeader,
  pageParameters,
  RECORDED_EXAMPLE,
  SEEN,
  TIME_LOGS_TAG,
} from './time-log.documentation.js';
import { TOTALS } from './time-log-totals.schemas.js';

const whole = { count: 5, duration: 4.8 };
const place = { page: DEFAULT_PAGE.number, limit: DEFAULT_PAGE.limit };

/** What makes a group. */
export const BY_PARAMETER: ParameterObject = {
  name: 'by',
  in: 'query',
  description: 'What makes a group. Without it there are none.',
  schema: { type: 'string', enum: [...GROUPINGS] },
};

/** `GET /time-logs/totals`. */
export const TotalsDocumentation = DescribesGuarded({
  operationId: 'totalTimeLogs',
  tags: [TIME_LOGS_TAG.name],
  summary: 'Sum time logs',
  refusals: [PROJECT_REFUSED],
  description: [
    'How many logs match all filters, and the sum of their durations: of all in `meta`, and of each group in `data`, where `by` says what the groups are. ' +
      'All of it is of one moment. Groups without logs are left out. ' +
      SEEN,
    '**Sums** are exact decimals: 0.1 and 0.2 make 0.3. The unit is the caller’s.',
    '**Order.** Projects: the largest duration first, then by `projectId`. Days, weeks and months: newest first.',
    '**Period.** `from` and `to` are those of the list. A week is that of ISO 8601, from Monday. Days are those of `date`, whatever the time zone. ' +
      'The first and the last group are cut to the period: their `from` and `to` say so.',
    '**Cost.** It does not grow with the number of logs. `by=project` costs the more, the more projects there are: with 100,000 and a year, about a second. ' +
      'One such sum is made at a time; what would take too long, or wait too long for its turn, is answered with `503`.',
  ].join('\n\n'),
  parameters: [...FILTER_PARAMETERS, BY_PARAMETER, ...pageParameters('groups')],
  responses: {
    200: {
      description: 'The totals.',
      headers: pageLinksHeader('/api/v1/time-logs/totals?from=2026-01-01&by=day'),
      content: {
        'application/json': {
          schema: TOTALS,
          examples: {
            byProject: {
              summary: 'by=project',
              value: {
                success: true,
                data: [
                  { projectId: RECORDED_EXAMPLE.projectId, count: 3, duration: 4.5 },
                  { projectId: '9a4f3c52-0d0b-4f5e-8f6e-5a3b7c1d2e90', count: 2, duration: 0.3 },
                ],
                meta: { ...whole, total: 2, ...place },
              },
            },
            byWeek: {
              summary: 'from=2026-01-30&to=2026-02-02&by=week',
              value: {
                success: true,
                data: [
                  { from: '2026-02-02', to: '2026-02-02', count: 1, duration: 1.5 },
                  { from: '2026-01-30', to: '2026-02-01', count: 4, duration: 3.3 },
                ],
                meta: { ...whole, total: 2, ...place },
              },
            },
            all: {
              summary: 'Without by',
              value: { success: true, data: [], meta: { ...whole, total: 0, ...place } },
            },
          },
        },
      },
    },
    400: errorAnswer('VALIDATION_ERROR', 'A parameter is malformed, unknown or repeated.', {
      messages: [
        'by must be project, day, week or month',
        `limit must be a whole number from 1 to ${PAGE_LIMIT}`,
        'from must not be after to; unknown parameter: groupBy',
      ],
    }),
  },
});
