import { literal } from '../counts/count-rows.v1.js';
import type { FeedNames } from './feed-names.js';
import { storedShift } from './positions.v1.js';

// Parts of version 1 of the function that moves positions. See README.md.

/** More positions than any server gives out in a second. */
export const RATE = 2 ** 22;

/** The first position that no row which is visible here can have, by its transaction; our own has not ended yet. */
export const nextPosition = (names: FeedNames) => `
  ${storedShift(names)} + greatest(pg_snapshot_xmax(pg_current_snapshot())::text::bigint,
                                   pg_current_xact_id_if_assigned()::text::bigint + 1)`;

/**
 * What was noted last: where, when that server had started, when it was noted, and a position that none had reached.
 */
export const notedPosition = ({ keep }: FeedNames) => `
  regexp_match(obj_description(${literal(`${keep}()`)}::regprocedure, 'pg_proc'),
               '^On (.+), up since ([0-9.]+)[.] At ([0-9.]+) no position had reached ([0-9]+)[.]$')`;

/**
 * A position that none has reached, neither here nor on a server that has gone on from what was noted: from the same
 * files, or from the same dump. Nulls count for nothing.
 */
export const unreached = (newest: string, next: string, noted: string) => `
  ceil(greatest(${newest}::numeric + 1, ${next},
    ${noted}[4]::numeric + ${RATE} * greatest(0, extract(epoch from clock_timestamp()) - ${noted}[3]::numeric)))`;
