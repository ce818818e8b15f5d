import { errorAnswer, FAULT_ANSWERS, RETRY_AFTER_HEADER } from '../../errors/src/index.js';
import type { Headers, Responses } from '../../open-api/src/index.js';

const CHALLENGE: Headers = {
  'WWW-Authenticate': {
    description:
      'What is asked for (RFC 6750, section 3): with `error="invalid_token"` where a bearer token was sent, with `error="insufficient_scope"` where it allows too little, and the scope where it lacks one.',
    required: true,
    schema: {
      type: 'string',
      pattern:
        '^Bearer realm="[^"]+"(, error="invalid_token"|, error="insufficient_scope"(, scope="[^"]+")?)?$',
    },
  },
};

/** What a rate limit adds to the answers of a route that is not `Unlimited`. */
export const RATE_LIMIT_HEADERS: Headers = {
  'RateLimit-Policy': {
    description:
      'Where the deployment has set a limit: the requests `q` that a token may make in `w` seconds.',
    schema: { type: 'string', pattern: '^"default";q=\\d+;w=\\d+$', example: '"default";q=600;w=60' },
  },
  RateLimit: {
    description: 'With it: the requests `r` that the token has left, for `t` seconds.',
    schema: { type: 'string', pattern: '^"default";r=\\d+;t=\\d+$', example: '"default";r=583;t=17' },
  },
};

/**
 * The answers of a route with the guard. The answer `403` names the scopes that the route needs, and with what else it
 * refuses a caller who has them.
 */
export function guardAnswers(scopes: readonly string[] = [], refusals: readonly string[] = []): Responses {
  return {
    401: errorAnswer(
      'UNAUTHORIZED',
      'The token is missing, malformed, unknown, expired or revoked. Precedes every other look at the request.',
      { headers: CHALLENGE },
    ),
    ...(scopes.length > 0 && {
      403: errorAnswer(
        'FORBIDDEN',
        'The token lacks the scope of the operation, or is bound to other projects.',
        {
          messages: [`the token lacks the scope ${scopes.join(' ')}`, ...refusals],
          headers: CHALLENGE,
        },
      ),
    }),
    ...FAULT_ANSWERS,
  };
}

/** The answers that a rate limit may give on a route that is not `Unlimited`. */
export const RATE_LIMIT_ANSWERS: Responses = {
  429: errorAnswer(
    'RATE_LIMITED',
    'The token has made more requests than it may; answered only where the deployment has set a limit.',
    {
      messages: ['too many requests: a token may make 600 in 60 seconds; retry after 17 seconds'],
      headers: { ...RATE_LIMIT_HEADERS, ...RETRY_AFTER_HEADER },
    },
  ),
};
