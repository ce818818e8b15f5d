import { type components, errorBodyErrorValues } from './openapi.js';
import type { ServiceErrorCode, TimeLogErrorCode } from './time-log.error.js';

/** An answer that has arrived as a whole. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Why a try brought nothing. */
export interface Failure {
  readonly code: TimeLogErrorCode;
  readonly message: string;
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  /** Milliseconds that the service asks to wait. */
  readonly retryAfter?: number | undefined;
  readonly cause?: unknown;
}

type ErrorBody = components['schemas']['ErrorBody'];

const CODES: ReadonlySet<unknown> = new Set(errorBodyErrorValues);
/** Too slow, too often, or out of reach for the moment: by the service, or by a proxy before it. */
const TRANSIENT: readonly (number | undefined)[] = [408, 429, 502, 503, 504];

/** True where the same request may succeed a little later. */
export function isTransient({ code, status }: Failure): boolean {
  return code === 'NO_ANSWER' || TRANSIENT.includes(status);
}

/** True where the request may have done its work: nothing was answered, or something else than a refusal. */
export function leavesOutcomeUnknown({ status = 0 }: Failure): boolean {
  return status < 300 || status >= 500;
}

/** The failure that an answer tells of that is no success; `now` is in milliseconds since 1970. */
export function failureOf({ status, headers, text }: Answer, now: number): Failure {
  const { success, error, message } = (parsed(text) ?? {}) as Partial<ErrorBody>;
  const isOurs = success === false && typeof error === 'string' && typeof message === 'string';
  const facts = {
    status,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfter: wait(headers, now),
  };
  if (isOurs && isKnown(error)) return { code: error, message, ...facts };
  return {
    code: 'UNEXPECTED_ANSWER',
    message: isOurs ? `${error}: ${message}` : foreign(status, headers),
    ...facts,
  };
}

/** The text read as JSON; undefined where it is none. */
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

function foreign(status: number, headers: Headers): string {
  // A browser shows neither status nor headers of a redirect.
  if (status < 400 && (status === 0 || status >= 300)) {
    return 'the address redirects, which is not followed: give as baseUrl the address that it leads to';
  }
  const type = headers.get('content-type') ?? 'no Content-Type';
  return `the answer (${status}, ${type}) is not the service's: see whether baseUrl is its address, and what a proxy before it says`;
}

/** The milliseconds of a Retry-After (RFC 9110, section 10.2.3): seconds, or a date by the clock of whoever answered. */
function wait(headers: Headers, now: number): number | undefined {
  const text = headers.get('retry-after');
  if (text === null) return undefined;
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  // Of the three forms of a date one, that of asctime(), does not say that it is in UTC (section 5.6.7).
  const date = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  const clock = Date.parse(headers.get('date') ?? '') || now;
  return Number.isNaN(date) ? undefined : Math.max(0, date - clock);
}
