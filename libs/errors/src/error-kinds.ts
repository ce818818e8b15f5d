import { STATUS_CODES } from 'node:http';

/** A kind of error. A module declares the kinds that only it uses. */
export interface ErrorKind {
  /** The `error` member of the response, for programs. */
  readonly code: string;
  /** The HTTP status. */
  readonly status: number;
  /** The default message, for people. */
  readonly message: string;
}

const TABLE = {
  VALIDATION_ERROR: [400, 'malformed request'],
  UNAUTHORIZED: [401, 'a valid bearer token is required'],
  FORBIDDEN: [403, 'access is denied'],
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

/** The error codes that every module may use. */
export type ErrorCode = keyof typeof TABLE;

/** The statuses and messages of these codes. */
export const ERROR_KINDS = Object.fromEntries(
  Object.entries(TABLE).map(([code, [status, message]]) => [code, { code, status, message }]),
) as Readonly<Record<ErrorCode, ErrorKind>>;

const CODE_BY_STATUS = new Map(
  Object.entries(ERROR_KINDS).map(([code, { status }]) => [status, code as ErrorCode]),
);

/**
 * Returns the kind of error for any status. If the table lacks it, the code is its name in upper
 * case. A status without a name is treated as 400 or 500 (RFC 9110, section 15).
 */
export function errorKindForStatus(status: number): ErrorKind {
  const code = CODE_BY_STATUS.get(status);
  if (code !== undefined) return ERROR_KINDS[code];
  if (!(status >= 400 && status <= 599)) return ERROR_KINDS.INTERNAL_ERROR;
  if (status >= 500) return { ...ERROR_KINDS.INTERNAL_ERROR, status };
  const name = STATUS_CODES[status];
  if (name === undefined) return { ...ERROR_KINDS.VALIDATION_ERROR, status };
  return { code: name.replace(/'/g, '').replace(/\W+/g, '_').toUpperCase(), status, message: name };
}
