import type { Header, Parameter, Reference } from './open-api.js';

/** A link of the `Link` header (RFC 8288) with one of these relations. */
const link = (relations: string) => `<[^<>]+>; rel="(${relations})"`;

/** All named headers of answers. */
export const headers = {
  'X-Request-Id': {
    description: 'Names the request in the log of the service: the id that the caller sent, else a new one.',
    required: true,
    schema: { type: 'string', examples: ['0b6e3b52-6f0e-4b7a-9a38-0f6f6f0f1c55'] },
  },
  Link: {
    description:
      'The first, previous, next and last page (RFC 8288), each with the filters, and with the days that were applied for `from` and `to`.',
    required: true,
    schema: {
      type: 'string',
      pattern: `^${link('first')}(, ${link('prev')})?(, ${link('next')})?, ${link('last')}$`,
      examples: [
        '</api/v1/time-logs?from=2026-01-01&page=1&limit=50>; rel="first", </api/v1/time-logs?from=2026-01-01&page=2&limit=50>; rel="next", </api/v1/time-logs?from=2026-01-01&page=3&limit=50>; rel="last"',
      ],
    },
  },
  'Idempotency-Replayed': {
    description:
      'Present where nothing was recorded: this is the first answer to the `Idempotency-Key`, once more.',
    schema: { type: 'string', const: 'true' },
  },
  'WWW-Authenticate': {
    description:
      'What is asked for (RFC 6750, section 3): with `error="invalid_token"` where a bearer token was sent, with `error="insufficient_scope"` and the scope where it lacks one.',
    required: true,
    schema: {
      type: 'string',
      pattern: '^Bearer realm="[^"]+"(, error="invalid_token"|, error="insufficient_scope", scope="[^"]+")?$',
      examples: ['Bearer realm="time-logs", error="invalid_token"'],
    },
  },
  'RateLimit-Policy': {
    description:
      'Where the deployment has set a limit: the requests `q` that a token may make in `w` seconds.',
    schema: { type: 'string', pattern: '^"default";q=\\d+;w=\\d+$', examples: ['"default";q=600;w=60'] },
  },
  RateLimit: {
    description: 'With it: the requests `r` that the token has left, for `t` seconds.',
    schema: { type: 'string', pattern: '^"default";r=\\d+;t=\\d+$', examples: ['"default";r=583;t=17'] },
  },
  'Retry-After': {
    description: 'Seconds after which to try again.',
    required: true,
    schema: { type: 'integer', minimum: 1, examples: [1] },
  },
  Allow: {
    description: 'The methods that the path takes.',
    required: true,
    schema: { type: 'string', pattern: '^[A-Z]+(, [A-Z]+)*$', examples: ['GET, HEAD, POST'] },
  },
} as const satisfies Record<string, Header>;

type HeaderName = keyof typeof headers;

/** References to named headers, together with the one that every answer carries. */
export function headerRefs(...names: HeaderName[]): Record<string, Reference> {
  const all: HeaderName[] = [...names, 'X-Request-Id'];
  return Object.fromEntries(all.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** The parameters that every operation takes. */
export const parameters = {
  RequestId: {
    name: 'X-Request-Id',
    in: 'header',
    description:
      'An id for the request: 1 to 128 of `A-Z a-z 0-9 . _ ~ : + / = @ -`. It is answered and logged; one in any other form is replaced, not refused.',
    schema: { type: 'string', examples: ['import-2026-01-31.17'] },
  },
} as const satisfies Record<string, Parameter>;

export const requestId: Reference = { $ref: '#/components/parameters/RequestId' };
