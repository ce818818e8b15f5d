import type { ErrorCode } from './domain-error.js';

interface ErrorKind {
  readonly status: number;
  /** The message where the framework, not the service, refused the request. */
  readonly message: string;
}

/** The one table of codes, statuses and default messages. */
export const ERROR_KINDS: Readonly<Record<ErrorCode, ErrorKind>> = {
  VALIDATION_ERROR: { status: 400, message: 'malformed request' },
  UNAUTHORIZED: { status: 401, message: 'a valid bearer token is required' },
  FORBIDDEN: { status: 403, message: 'the token lacks the scope for this operation' },
  NOT_FOUND: { status: 404, message: 'no such path' },
  METHOD_NOT_ALLOWED: { status: 405, message: 'method not allowed on this path; see the Allow header' },
  REQUEST_TIMEOUT: { status: 408, message: 'the request was not received in time' },
  PAYLOAD_TOO_LARGE: { status: 413, message: 'the request body is too large' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, message: 'unsupported media type' },
  EXPECTATION_FAILED: { status: 417, message: 'the only supported expectation is 100-continue' },
  IDEMPOTENCY_KEY_REUSED: { status: 422, message: 'the Idempotency-Key was used with other values' },
  RATE_LIMITED: { status: 429, message: 'too many requests; retry later' },
  HEADERS_TOO_LARGE: { status: 431, message: 'the request line and headers are too large' },
  INTERNAL_ERROR: { status: 500, message: 'internal error' },
  SERVICE_UNAVAILABLE: { status: 503, message: 'the service is unavailable at the moment; retry later' },
};

const CODE_BY_STATUS = new Map(
  Object.entries(ERROR_KINDS).map(([code, { status }]) => [status, code as ErrorCode]),
);

/** The code for a status that a framework chose. Unknown 4xx: VALIDATION_ERROR; unknown 5xx: INTERNAL_ERROR. */
export function codeOfStatus(status: number): ErrorCode {
  return (
    CODE_BY_STATUS.get(status) ?? (status >= 400 && status < 500 ? 'VALIDATION_ERROR' : 'INTERNAL_ERROR')
  );
}
