import { type components, errorBodyErrorValues } from './openapi.js';
import type { ServiceErrorCode, TimeLogErrorCode } from './time-log.error.js';

/** A complete answer. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Why a try failed. */
export interface Failure {
  readonly code: TimeLogErrorCode;
  readonly message: string;
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  /** Milliseconds to wait, by the word of the service. */
  readonly retryAfter?: number | undefined;
  readonly cause?: unknown;
}

type ErrorBody = components['schemas']['ErrorBody'];

const CODES: ReadonlySet<unknown> = new Set(errorBodyErrorValues);
/** The service, or a proxy before it, was too slow, too busy or out of reach for the moment. */
const TRANSIENT: readonly (number | undefined)[] = [408, 429, 502, 503, 504];

/** Over messages the code alone says so: they have no status. */
const TRANSIENT_CODES: readonly TimeLogErrorCode[] = ['NO_ANSWER', 'RATE_LIMITED', 'SERVICE_UNAVAILABLE'];
const NO_REFUSALS: readonly TimeLogErrorCode[] = [
  ...(['NO_ANSWER', 'UNEXPECTED_ANSWER', 'ABORTED', 'INTERNAL_ERROR', 'SERVICE_UNAVAILABLE'] as const),
];

/** True where the same request may succeed a little later. */
export function isTransient({ code, status }: Failure): boolean {
  return TRANSIENT_CODES.includes(code) || TRANSIENT.includes(status);
}

/** True where the request may have done its work: there was no answer, or one that is no refusal. */
export function leavesOutcomeUnknown({ code, status }: Failure): boolean {
  return status === undefined ? NO_REFUSALS.includes(code) : status < 300 || status >= 500;
}

/** The failure that an unsuccessful answer reports. `now`: milliseconds since 1970. */
export function failureOf({ status, headers, text }: Answer, now: number): Failure {
  const facts = {
    status,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfter: wait(headers, now),
  };
  const refusal = refusalIn(parsed(text));
  return {
    ...(refusal ?? { code: 'UNEXPECTED_ANSWER', message: describeForeign(status, headers) }),
    ...facts,
  };
}

/** What the service's error body says; undefined where it is none. */
export function refusalIn(body: unknown): Failure | undefined {
  const { success, error, message } = (body ?? {}) as Partial<ErrorBody>;
  if (success !== false || typeof error !== 'string' || typeof message !== 'string') return undefined;
  return isKnown(error)
    ? { code: error, message }
    : { code: 'UNEXPECTED_ANSWER', message: `${error as string}: ${message}` };
}

/** The text as JSON; undefined where it is not JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isKnown(code: string): code is ServiceErrorCode {
  return CODES.has(code);
}

function describeForeign(status: number, headers: Headers): string {
  // Browsers hide status and headers of a redirect.
  if (status < 400 && (status === 0 || status >= 300)) {
    return 'the address redirects, which is not followed: give as baseUrl the address that it leads to';
  }
  const type = headers.get('content-type') ?? 'no Content-Type';
  return `the answer (${status}, ${type}) is not the service's: see whether baseUrl is its address, and what a proxy before it says`;
}

/** Milliseconds of a Retry-After (RFC 9110, section 10.2.3): seconds, or a date by the sender's clock. */
function wait(headers: Headers, now: number): number | undefined {
  const text = headers.get('retry-after');
  if (text === null) return undefined;
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  // Dates come in three forms, all in UTC. That of asctime() does not say so (section 5.6.7).
  const date = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  const clock = Date.parse(headers.get('date') ?? '') || now;
  return Number.isNaN(date) ? undefined : Math.max(0, date - clock);
}
