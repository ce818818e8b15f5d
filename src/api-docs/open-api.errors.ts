import { ERROR_KINDS, type ErrorCode } from '../../libs/errors/src/index.js';
import { DEFAULT_LIMITS, HEADERS_LIMIT } from '../../libs/http-edge/src/index.js';
import { SCOPES } from '../access-token/index.js';
import { headerRefs } from './open-api.headers.js';
import type { Response, Responses } from './open-api.js';
import { schemaRef } from './open-api.schemas.js';

type HeaderName = Parameters<typeof headerRefs>[number];

interface ErrorText {
  readonly when: string;
  /** Messages that are answered, beside the one of the table of errors. */
  readonly messages?: readonly string[];
  readonly headers?: readonly HeaderName[];
}

const KIBIBYTE = 1024;
/** The limits are those of a deployment that has set none: the document is the same everywhere. */
const { headersTimeout, requestTimeout, bodyLimit } = DEFAULT_LIMITS;
const unlessSet = 'unless the deployment has set another limit';

const ERRORS: Readonly<Record<ErrorCode, ErrorText>> = {
  VALIDATION_ERROR: { when: 'The request is malformed HTTP, or has not exactly one `Host` header.' },
  UNAUTHORIZED: {
    when: 'The token is missing, malformed, unknown, expired or revoked. Precedes every other look at the request.',
    headers: ['WWW-Authenticate'],
  },
  FORBIDDEN: {
    when: 'The token lacks the scope of the operation.',
    messages: SCOPES.map((scope) => `the token lacks the scope ${scope}`),
    headers: ['WWW-Authenticate'],
  },
  NOT_FOUND: { when: 'There is no such path.' },
  METHOD_NOT_ALLOWED: { when: 'The path takes other methods.', headers: ['Allow'] },
  REQUEST_TIMEOUT: {
    when: `The headers did not arrive within ${headersTimeout / 1000} seconds, or the request within ${requestTimeout / 1000}, ${unlessSet}.`,
  },
  PAYLOAD_TOO_LARGE: {
    when: `The body is over ${bodyLimit / KIBIBYTE} KiB, ${unlessSet}.`,
    messages: [`the request body must be at most ${bodyLimit} bytes`],
  },
  UNSUPPORTED_MEDIA_TYPE: {
    when: 'The body is not `application/json` in UTF-8, or compressed.',
    messages: [
      'Content-Type must be application/json in UTF-8',
      'Content-Encoding must be identity: send the body uncompressed',
    ],
  },
  EXPECTATION_FAILED: { when: 'The `Expect` header asks for something else than `100-continue`.' },
  IDEMPOTENCY_KEY_REUSED: {
    when: 'The `Idempotency-Key` was used with other values within the last 24 hours.',
  },
  RATE_LIMITED: {
    when: 'The token has made more requests than it may; answered only where the deployment has set a limit.',
    messages: ['too many requests: a token may make 600 in 60 seconds; retry after 17 seconds'],
    headers: ['RateLimit-Policy', 'RateLimit', 'Retry-After'],
  },
  HEADERS_TOO_LARGE: {
    when: `The request line and headers are over ${HEADERS_LIMIT / KIBIBYTE} KiB, ${unlessSet}.`,
  },
  INTERNAL_ERROR: {
    when: 'A fault of the service; the details are in its log under the `X-Request-Id`.',
  },
  SERVICE_UNAVAILABLE: {
    when: 'The database is away, the service is overloaded or shuts down. A log that was to be recorded may have been: repeat the request with its `Idempotency-Key`.',
    headers: ['Retry-After'],
  },
};

/** The answer for a code, with examples of its messages; without any, those that it always has. */
export function errorResponse(
  code: ErrorCode,
  when = ERRORS[code].when,
  messages: readonly string[] = ERRORS[code].messages ?? [ERROR_KINDS[code].message],
): Response {
  const examples = messages.map((message, index) => [
    index === 0 ? code : `${code}_${index + 1}`,
    { summary: message, value: { success: false, error: code, message } },
  ]);
  return {
    description: when,
    headers: headerRefs(...(ERRORS[code].headers ?? [])),
    content: {
      'application/json': {
        schema: {
          allOf: [schemaRef('Error'), { required: ['error'], properties: { error: { const: code } } }],
        },
        examples: Object.fromEntries(examples) as Record<string, { value: unknown }>,
      },
    },
  };
}

const CODES = Object.keys(ERROR_KINDS) as ErrorCode[];

/** The answer for each code; 404 and 405 belong to no operation: they are what other paths and methods answer. */
export const errorResponses = Object.fromEntries(CODES.map((code) => [nameOf(code), errorResponse(code)]));

/** References to the answers for these codes, by status. */
export function errorRefs(...codes: ErrorCode[]): Responses {
  return Object.fromEntries(
    codes.map((code) => [ERROR_KINDS[code].status, { $ref: `#/components/responses/${nameOf(code)}` }]),
  );
}

/** What any request to a path of the service may be answered. */
export const anyErrors = errorRefs(
  'VALIDATION_ERROR',
  'REQUEST_TIMEOUT',
  'EXPECTATION_FAILED',
  'HEADERS_TOO_LARGE',
);
/** What any request that needs a token may be answered besides. */
export const tokenErrors = errorRefs('UNAUTHORIZED', 'INTERNAL_ERROR', 'SERVICE_UNAVAILABLE');

/** `NOT_FOUND` as `NotFound`. */
function nameOf(code: ErrorCode): string {
  return code.toLowerCase().replace(/(?:^|_)(.)/g, (_match, letter: string) => letter.toUpperCase());
}
