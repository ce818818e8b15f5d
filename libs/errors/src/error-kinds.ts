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

/** The code for a status that a framework chose. Unknown 4xx: VALIDATION_ERROR; unknown 5xx: INTERNAL_ERROR. */
export function codeOfStatus(status: number): ErrorCode {
  return (
    CODE_BY_STATUS.get(status) ?? (status >= 400 && status < 500 ? 'VALIDATION_ERROR' : 'INTERNAL_ERROR')
  );
}
