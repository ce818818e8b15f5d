import { STATUS_CODES } from 'node:http';

/** What a code of an error means. A module declares the kinds that only it has. */
export interface ErrorKind {
  /** For programs: what an answer has in its `error` member. */
  readonly code: string;
  /** Of the answer over HTTP. */
  readonly status: number;
  /** For people, where nobody gives another text. */
  readonly message: string;
}

const TABLE = {
  VALIDATION_ERROR: [400, 'malformed request'],
  UNAUTHORIZED: [401, 'a valid bearer token is required'],
  FORBIDDEN: [403, 'the token lacks the scope for this operation'],
  NOT_FOUND: [404, 'no such path'],
  METHOD_NOT_ALLOWED: [405, 'method not allowed on this path; see the Allow header'],
  REQUEST_TIMEOUT: [408, 'the request was not received in time'],
  PAYLOAD_TOO_LARGE: [413, 'the request body is too large'],
  UNSUPPORTED_MEDIA_TYPE: [415, 'unsupported media type'],
  EXPECTATION_FAILED: [417, 'the only supported expectation is 100-continue'],
  RATE_LIMITED: [429, 'too many requests; retry later'],
  HEADERS_TOO_LARGE: [431, 'the request line and headers are too large'],
  INTERNAL_ERROR: [500, 'internal error'],
  SERVICE_UNAVAILABLE: [503, 'the service is unavailable at the moment; retry later'],
} as const;

/** The codes that any module may answer with. */
export type ErrorCode = keyof typeof TABLE;

/** The one table of these codes, their statuses and texts. */
export const ERROR_KINDS = Object.fromEntries(
  Object.entries(TABLE).map(([code, [status, message]]) => [code, { code, status, message }]),
) as Readonly<Record<ErrorCode, ErrorKind>>;

const CODE_BY_STATUS = new Map(
  Object.entries(ERROR_KINDS).map(([code, { status }]) => [status, code as ErrorCode]),
);

/**
 * The kind of error for a status that a host or a framework chose. One that the table lacks has the name of its status
 * as code; a status without a name means what 400 or 500 does (RFC 9110, section 15).
 */
export function kindOfStatus(status: number): ErrorKind {
  const code = CODE_BY_STATUS.get(status);
  if (code !== undefined) return ERROR_KINDS[code];
  if (!(status >= 400 && status <= 599)) return ERROR_KINDS.INTERNAL_ERROR;
  if (status >= 500) return { ...ERROR_KINDS.INTERNAL_ERROR, status };
  const name = STATUS_CODES[status];
  if (name === undefined) return { ...ERROR_KINDS.VALIDATION_ERROR, status };
  return { code: name.replace(/'/g, '').replace(/\W+/g, '_').toUpperCase(), status, message: name };
}
