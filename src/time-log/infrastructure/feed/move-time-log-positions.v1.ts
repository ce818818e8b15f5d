import { literal } from '../counts/count-rows.v1.js';
import type { FeedNames } from './feed-names.js';
import { nextPosition, notedPosition, unreached } from './position-bounds.v1.js';
import { storedShift, TRANSACTION } from './positions.v1.js';
import { setTellTriggers } from './tell-triggers.v1.js';

/** Beside the numbers of slots of counts, and that of a rebuild. */
const KEEPING = -2;
/** By how much new positions begin later after a move. */
const RANGE = 2 ** 40;
/** The last position with which new ones may begin, and one that only a mistake can have reached by then. */
const LAST = 9n * 10n ** 18n;
const MISTAKEN = 89n * 10n ** 17n;

/**
 * Sees to it that new positions come after all that were ever given out, also elsewhere, and returns by how much it has
 * moved them. It is called where rows have come from elsewhere; `after` is a position that none had reached there. With
 * null it is called at a start: then it looks whether the server, or the table, is another than that of the last start.
 */
export const moveTimeLogPositionsV1 = (names: FeedNames) => `
  create function ${names.move}("after" bigint default 0) returns bigint
    language plpgsql set search_path = pg_catalog, pg_temp as $$
  declare
    is_start constant boolean := "after" is null;
    here text := format('table %s', ${literal(names.logs)}::regclass::oid);
    up_since constant text := extract(epoch from pg_postmaster_start_time());
    noted text[];
    newest bigint;
    next bigint;
    is_moved boolean;
    first numeric;
    ahead bigint;
    moved_by bigint := 0;
  begin
    if current_setting('transaction_isolation') <> 'read committed' then
      raise exception 'positions can be moved in a READ COMMITTED transaction alone: others may not see the last move';
    end if;
    -- One caller at a time: two that have read the table would wait for each other to lock it.
    perform pg_advisory_xact_lock(${literal(names.logs)}::regclass::oid::integer, ${KEEPING});
    begin
      -- Not the timeline of the control file: after a promotion that is late.
      here := format('%s of server %s on timeline %s', here, (select system_identifier from pg_control_system()),
                     left(pg_walfile_name(pg_current_wal_lsn()), 8));
    exception when others then
      null; -- A managed server may refuse to tell (Aurora: 55000).
    end;
    noted := ${notedPosition(names)};
    ${measured(names)}
    if is_start and noted is null and newest is null then
      -- Nobody has a place in this feed yet.
      first := next;
    else
      -- Positions that are ahead are of elsewhere; or the default was set back.
      is_moved := not is_start or noted[1] is distinct from here
        or coalesce(newest >= next, false) or noted[4]::bigint > next;
      if not is_moved and noted[2] = up_since then
        return 0;
      end if;
      -- A table cannot be changed while triggers of rows of this transaction wait for its end.
      set constraints all immediate;
      begin
        -- A start waits as long as its statement may take, and less where the server has only started again.
        if is_start then
          perform set_config('lock_timeout', least(case when is_moved then 10000 else 500 end, ${STATEMENT_LIMIT} * 2 / 3)::text, true);
        end if;
        -- Writers must not have begun with the old default.
        lock table ${names.logs} in access exclusive mode;
      exception when lock_not_available then
        if is_moved then
          raise exception 'the database has moved, so its feed must, but others use the table %: end their transactions, and start again', ${literal(names.logs)};
        end if;
        return 0; -- The next start will do.
      end;
      ${measured(names)}
      first := greatest(${unreached('newest', 'next', 'noted')}, "after") + case when is_moved then ${RANGE} else 0 end;
      if first > ${LAST} then
        raise exception 'there is no room for new positions after %: run update % set "position" = default where "position" > ${MISTAKEN} in the database where that was set by mistake, and try again',
          greatest(newest, next), ${literal(names.logs)};
      end if;
      -- Every transaction that has yet to write has at least this number.
      ahead := first - pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
      moved_by := ahead - (${storedShift(names)});
      execute format('alter table %s alter column "position" set default ${TRANSACTION} + %L::bigint',
                     ${literal(names.logs)}, ahead);${setTellTriggers(names)}
    end if;
    execute format('comment on function %s() is %L', ${literal(names.keep)},
                   format('On %s, up since %s. At %s no position had reached %s.',
                          here, up_since, extract(epoch from clock_timestamp()), first));
    return moved_by;
  end $$`;

/** In milliseconds, or null. */
const STATEMENT_LIMIT = `(select nullif(setting::integer, 0) from pg_settings where name = 'statement_timeout')`;

const measured = (names: FeedNames) => `
    select ${newestPosition(names)} into newest;
    next := ${nextPosition(names)};`;

/** Of all logs and deletions, and the mark; null where there are none. */
export const newestPosition = ({ logs, deletions }: FeedNames) =>
  `greatest((select max("position") from ${logs}), (select max("position") from ${deletions}))`;
