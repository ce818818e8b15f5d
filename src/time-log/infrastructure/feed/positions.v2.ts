import { dropTimeLogsV1 } from './drop-time-logs.v1.js';
import type { FeedNames } from './feed-names.js';
import { forgetTimeLogDeletionsV1 } from './forget-time-log-deletions.v1.js';
import { moveTimeLogPositionsV1 } from './move-time-log-positions.v1.js';
import { literal } from '../counts/count-rows.v1.js';
import { storedShift } from './positions.v1.js';
import { setTellTriggers } from './tell-triggers.v1.js';
import { timeLogEventsV1 } from './time-log-events.v1.js';

/**
 * Version 2 of a function that reads the shift. With `standard_conforming_strings = off` the backslash of version 1 was
 * lost, so that it found no shift. This one has none.
 */
const withoutBackslash = (text: (names: FeedNames) => string) => (names: FeedNames) =>
  text(names)
    .replace('create function', 'create or replace function')
    .replaceAll(String.raw`(\d+)`, '([0-9]+)');

export const dropTimeLogsV2 = withoutBackslash(dropTimeLogsV1);
export const forgetTimeLogDeletionsV2 = withoutBackslash(forgetTimeLogDeletionsV1);
export const moveTimeLogPositionsV2 = withoutBackslash(moveTimeLogPositionsV1);
export const timeLogEventsV2 = withoutBackslash(timeLogEventsV1);

/**
 * Sets the triggers again if a move by version 1 gave them another shift than that of the default. Otherwise it takes no
 * lock.
 */
export const mendTellTriggers = withoutBackslash(
  (names) => `do $$ begin
    if exists (select from pg_trigger where tgrelid = ${literal(names.logs)}::regclass and tgname = 'zz_tell_correction'
                  and tgargs <> convert_to((${storedShift(names)})::text, 'UTF8') || decode('00', 'hex')) then
      perform set_config('lock_timeout', '10s', true);${setTellTriggers(names)}
    end if;
  end $$`,
);
