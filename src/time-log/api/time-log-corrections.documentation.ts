import { DescribesGuarded } from '../../../libs/auth/src/index.js';
import { errorAnswer, RETRY_AFTER_HEADER } from '../../../libs/errors/src/index.js';
import { JSON_BODY_ANSWERS } from '../../../libs/strict-request/src/index.js';
import { PROJECT_REFUSED } from '../domain/access.js';
import {
  ID_MESSAGES,
  ID_PARAMETER,
  NO_SUCH_LOG,
  ONE_LOG,
  TIME_LOGS_TAG,
  VALUES_BODY,
  VALUES_MESSAGES,
} from './time-log.documentation.js';

const UNKNOWN_OUTCOME = errorAnswer(
  'SERVICE_UNAVAILABLE',
  'The database is away, the service is overloaded or shuts down. The log may have been changed: repeat the request.',
  { headers: RETRY_AFTER_HEADER },
);

/** `PUT /time-logs/{id}`. */
export const CorrectDocumentation = DescribesGuarded({
  operationId: 'correctTimeLog',
  tags: [TIME_LOGS_TAG.name],
  summary: 'Correct a time log',
  refusals: [PROJECT_REFUSED],
  description: [
    'Replaces all values of a log: without a `description` it becomes empty. `id` and `createdAt` stay. It never makes a log. ' +
      'Counts and sums follow at once.',
    '**Retries.** `200` is answered only after the correction is durably stored. It can be repeated safely. Of two who correct one log at once the later commit counts. ' +
      'Retries of the create with its `Idempotency-Key` still bring the first answer.',
  ].join('\n\n'),
  parameters: [ID_PARAMETER],
  requestBody: VALUES_BODY,
  responses: {
    200: { description: 'The log as it is now, durably stored.', content: ONE_LOG },
    400: errorAnswer(
      'VALIDATION_ERROR',
      'The id is malformed, there is a query, a member is missing, malformed or unknown, or the JSON or the HTTP is malformed.',
      { messages: [...ID_MESSAGES, ...VALUES_MESSAGES] },
    ),
    404: NO_SUCH_LOG,
    ...JSON_BODY_ANSWERS,
    503: UNKNOWN_OUTCOME,
  },
});

/** `DELETE /time-logs/{id}`. */
export const DeleteDocumentation = DescribesGuarded({
  operationId: 'deleteTimeLog',
  tags: [TIME_LOGS_TAG.name],
  summary: 'Delete a time log',
  description:
    'Removes a log. `204` is answered only after that is durable. It can be repeated safely: the second time there is no log, so the answer is `404`. ' +
    'Counts and sums follow at once. Retries of the create with its `Idempotency-Key` still bring the first answer, and make no log.',
  parameters: [ID_PARAMETER],
  responses: {
    204: { description: 'The log is gone, durably.' },
    400: errorAnswer('VALIDATION_ERROR', 'The id is malformed, or there is a query.', {
      messages: ID_MESSAGES,
    }),
    404: NO_SUCH_LOG,
    503: UNKNOWN_OUTCOME,
  },
});
