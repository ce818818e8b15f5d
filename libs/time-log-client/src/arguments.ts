const IDEMPOTENCY_KEY = /^(?! )[\x20-\x7e]{1,255}(?<! )$/;
const MAX_KEY_LENGTH = 255;
/** One entity tag or several (RFC 9110), as in an `If-Match` header. */
const ENTITY_TAGS = /^(W\/)?"[\x21\x23-\x7e]*"( ?, ?(W\/)?"[\x21\x23-\x7e]*")*$/;
/** A position in the feed and the id of a log, or an opaque place in the feed of some projects. */
const EVENT_ID = /^(\d+-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[\w-]{64})$/i;
/** The maximum delay of timers in browsers and Node. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** The minimum page size with which every list can be read (see pageFrom). */
export const MIN_PAGE_SIZE = 50;
/** The maximum number of items of a page that the service allows. */
export const MAX_PAGE_SIZE = 1_000;

/** The limits of the tries of a call. */
export interface RetryLimits {
  /** The maximum milliseconds of one try (10,000). */
  readonly timeout?: number;
  /** The maximum number of tries of a call (8). */
  readonly tries?: number;
  /** The maximum milliseconds of a call, including all tries and delays (30,000). */
  readonly deadline?: number;
}

/** The access token, or a function that returns the current one. It is called once per call. */
export type Token = string | (() => string | Promise<string>);

/** Returns the limits with their defaults. Throws TypeError if one is invalid. */
export function withDefaults({
  timeout = 10_000,
  tries = 8,
  deadline = 30_000,
}: RetryLimits): Required<RetryLimits> {
  requireWhole({ timeout, deadline }, 1, MAX_TIMER_MS);
  requireWhole({ tries }, 1, Number.MAX_SAFE_INTEGER);
  return { timeout, tries, deadline };
}

/** Throws TypeError if the service would refuse the key, or another one would be sent. */
export function requireKey(key: unknown): void {
  if (typeof key === 'string' && IDEMPOTENCY_KEY.test(key)) return;
  throw new TypeError(
    'idempotencyKey must be 1 to 255 printable ASCII characters, without a space at its ends',
  );
}

/** Throws TypeError if the service would refuse the key, or that of a part of the logs. */
export function requireKeyOfParts(key: string, { length }: readonly unknown[]): void {
  requireKey(key);
  const limit = MAX_KEY_LENGTH - partKey('', length).length;
  if (key.length > limit)
    throw new TypeError(
      `idempotencyKey must have at most ${limit} characters for ${length} logs: the index of a log is appended`,
    );
}

/** Returns the key of a part of the logs. */
export function partKey(key: string, first: number): string {
  return `${key}-${first}`;
}

/** Throws TypeError for a missing `etag`, which would make a change unconditional, or another text. */
export function requireEntityTag(ifMatch: string | undefined): asserts ifMatch is string {
  if (ifMatch === undefined || !ENTITY_TAGS.test(ifMatch))
    throw new TypeError('ifMatch must be the etag of a log');
}

/** Throws TypeError if a list cannot be read with the page size. */
export function requirePageSize(pageSize: number): void {
  requireWhole({ pageSize }, MIN_PAGE_SIZE, MAX_PAGE_SIZE);
}

/** Throws TypeError if the service would refuse an option, or a timer cannot have the delay. */
export function requireEventsOptions(after: string | undefined, pageSize: number, wait = 0): void {
  requireWhole({ pageSize }, 1, MAX_PAGE_SIZE);
  requireWhole({ wait }, 0, MAX_TIMER_MS);
  if (after !== undefined && !EVENT_ID.test(after)) throw new TypeError('after must be the id of an event');
}

/** Throws TypeError for a missing value, which would not filter, and one that a query cannot hold. */
export function requireAttribute(name: string, value: unknown): void {
  const isText = typeof value === 'string' && !/\p{Surrogate}/u.test(value);
  if (isText || typeof value === 'boolean' || Number.isFinite(value)) return;
  throw new TypeError(`attributes.${name} must be a text, a finite number, true or false`);
}

function requireWhole(numbers: Readonly<Record<string, number>>, min: number, max: number): void {
  for (const [name, value] of Object.entries(numbers)) {
    if (!Number.isInteger(value) || value < min || value > max)
      throw new TypeError(`${name} must be a whole number from ${min} to ${max}`);
  }
}
