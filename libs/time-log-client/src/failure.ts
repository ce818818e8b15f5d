import type { components } from './openapi.js';
import type { TimeLogErrorCode } from './time-log.error.js';

/** The reason why a try failed. */
export interface Failure {
  readonly code: TimeLogErrorCode;
  readonly message: string;
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  /** The milliseconds to wait that the service asks for. */
  readonly retryAfter?: number | undefined;
  readonly cause?: unknown;
}

type ErrorBody = components['schemas']['ErrorBody'];

/** The form of a code of the service, or of an application that embeds it. */
const CODE = /^[A-Z][A-Z0-9_]*$/;
/** The statuses of a service or proxy that is temporarily slow, busy or unavailable. */
const TRANSIENT_STATUSES: readonly (number | undefined)[] = [408, 429, 502, 503, 504];

/** The codes with the same meaning over messages, which have no status. */
const TRANSIENT_CODES: readonly TimeLogErrorCode[] = ['NO_ANSWER', 'RATE_LIMITED', 'SERVICE_UNAVAILABLE'];
/** The codes over messages after which the request may have done its work. */
const UNCERTAIN_CODES: readonly TimeLogErrorCode[] = [
  ...(['NO_ANSWER', 'UNEXPECTED_ANSWER', 'ABORTED', 'INTERNAL_ERROR', 'SERVICE_UNAVAILABLE'] as const),
];

/** Returns whether the same request may succeed a little later. */
export function isTransient({ code, status }: Failure): boolean {
  return TRANSIENT_CODES.includes(code) || TRANSIENT_STATUSES.includes(status);
}

/** Returns whether the request may have done its work: there was no response, or not a refusal. */
export function leavesOutcomeUnknown({ code, status }: Failure): boolean {
  return status === undefined ? UNCERTAIN_CODES.includes(code) : status < 300 || status >= 500;
}

/** Returns the failure that a response reports. `now` is in milliseconds since 1970. */
export function failureOf(response: Response, body: unknown, now: number): Failure {
  const { status, headers } = response;
  return {
    ...(parseErrorBody(body) ?? {
      code: 'UNEXPECTED_ANSWER',
      message: describeUnexpected(response),
    }),
    status,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfter: retryAfterMs(headers, now),
  };
}

/** Returns the failure in an error body of the service; undefined if it is not one. */
export function parseErrorBody(body: unknown): Failure | undefined {
  const { success, error, message } = (body ?? {}) as Partial<ErrorBody>;
  if (success !== false || typeof error !== 'string' || typeof message !== 'string') return undefined;
  return CODE.test(error)
    ? { code: error, message }
    : { code: 'UNEXPECTED_ANSWER', message: `${error as string}: ${message}` };
}

/** Returns the value of a JSON text; undefined if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function describeUnexpected({ status, headers }: Response): string {
  // Browsers hide the status and headers of a redirect.
  if (status < 400 && (status === 0 || status >= 300))
    return 'the address redirects, which the client does not follow: set baseUrl to the target of the redirect';
  const type = headers.get('content-type') ?? 'no Content-Type';
  return `the response (${status}, ${type}) is not from the service: check that baseUrl is its address, and what a proxy in front of it reports`;
}

/** Returns the milliseconds of Retry-After, in seconds or a date (RFC 9110, section 10.2.3). */
function retryAfterMs(headers: Headers, now: number): number | undefined {
  const text = headers.get('retry-after');
  if (text === null) return undefined;
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  const date = Date.parse(text);
  const clock = Date.parse(headers.get('date') ?? '') || now;
  return Number.isNaN(date) ? undefined : Math.max(0, date - clock);
}
