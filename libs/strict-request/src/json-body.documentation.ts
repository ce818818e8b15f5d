import { errorAnswer } from '../../errors/src/index.js';
import type { Responses } from '../../open-api/src/index.js';
import { DEPTH_LIMIT } from './json-body.js';

/** What every body must be, whatever the route. The deployment decides how large it may be. */
export const JSON_BODY_TEXT = `JSON in UTF-8, nested at most ${DEPTH_LIMIT} levels deep. Of a member that is given twice the last one counts.`;

/** The answers that every route with a body may give. */
export const JSON_BODY_ANSWERS: Responses = {
  413: errorAnswer('PAYLOAD_TOO_LARGE', 'The body is larger than the deployment allows.'),
  415: errorAnswer('UNSUPPORTED_MEDIA_TYPE', 'The body is not `application/json` in UTF-8, or compressed.', {
    messages: [
      'Content-Type must be application/json in UTF-8',
      'Content-Encoding must be identity: send the body uncompressed',
    ],
  }),
};
