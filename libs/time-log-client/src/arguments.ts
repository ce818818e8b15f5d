import { LEAST_PAGE } from './every-log.js';

const KEY = /^(?! )[\x20-\x7e]{1,255}(?<! )$/;
/** A position, and the id of a log. */
const EVENT_ID = /^\d+-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** The longest time that timers of browsers and Node take. */
const LONGEST_TIME = 2 ** 31 - 1;
/** The most logs of a page that the service allows. */
export const MOST_PAGE = 1_000;

/** How long a client may try. */
export interface Endurance {
  /** The most milliseconds of one try (10 000). */
  readonly timeout?: number;
  /** The most tries of one call (8). */
  readonly tries?: number;
  /** The most milliseconds of one call, with all its tries and pauses (30 000). */
  readonly deadline?: number;
}

/** The access token, or a function that returns the current one; it is called once for each call. */
export type Token = string | (() => string | Promise<string>);

/** The endurance with its defaults. Throws TypeError for what cannot work. */
export function enduranceOf({
  timeout = 10_000,
  tries = 8,
  deadline = 30_000,
}: Endurance): Required<Endurance> {
  requireWhole({ timeout, deadline }, 1, LONGEST_TIME);
  requireWhole({ tries }, 1, Number.MAX_SAFE_INTEGER);
  return { timeout, tries, deadline };
}

/** Throws TypeError for a key that the service would refuse. */
export function requireKey(key: string): void {
  if (KEY.test(key)) return;
  throw new TypeError(
    'idempotencyKey must be 1 to 255 printable ASCII characters, without a space at its ends',
  );
}

/** Throws TypeError for a page size with which a list would not get on. */
export function requirePageSize(pageSize: number): void {
  requireWhole({ pageSize }, LEAST_PAGE, MOST_PAGE);
}

/** Throws TypeError for what the service would refuse, or no timer takes. */
export function requirePlaceInFeed(after: string | undefined, pageSize: number, wait = 0): void {
  requireWhole({ pageSize }, 1, MOST_PAGE);
  requireWhole({ wait }, 0, LONGEST_TIME);
  if (after !== undefined && !EVENT_ID.test(after)) throw new TypeError('after must be the id of an event');
}

function requireWhole(numbers: Readonly<Record<string, number>>, least: number, most: number): void {
  for (const [name, value] of Object.entries(numbers)) {
    if (!Number.isInteger(value) || value < least || value > most) {
      throw new TypeError(`${name} must be a whole number from ${least} to ${most}`);
    }
  }
}
