import { AS_OWNER } from '../counts/count-layout.js';
import { literal } from '../counts/count-rows.v1.js';
import type { FeedNames } from './feed-names.js';
import { storedShift, TRANSACTION } from './positions.v1.js';

/** Beside the numbers of slots of counts, and that of a rebuild. */
const KEEPING = -2;

/**
 * Sees to it that new positions come after all that are there, and returns by how much it has moved them. Rows of
 * another server, from a dump or a backup, may have positions that this server's transactions have not reached. Nobody
 * waits where there is nothing to do. Anybody may call it: it moves what would be wrong otherwise, and nothing else.
 * It wants READ COMMITTED, to see what another caller has done while it waited.
 */
export const keepTimeLogPositionsV1 = (names: FeedNames) => `
  create function ${names.keep}() returns bigint language plpgsql ${AS_OWNER} set lock_timeout = '10s' as $$
  declare
    shift bigint;
    newest bigint;
    next bigint;
    ahead bigint;
  begin
    -- One caller at a time: two that have read the table would wait for each other to lock it.
    perform pg_advisory_xact_lock(${literal(names.logs)}::regclass::oid::integer, ${KEEPING});
    for turn in 1..2 loop
      shift := ${storedShift(names)};
      -- The first that no row which is visible here can have, by its transaction; our own has not ended yet.
      select max(log."position"),
             greatest(pg_snapshot_xmax(pg_current_snapshot())::text::bigint,
                      pg_current_xact_id_if_assigned()::text::bigint + 1) + shift
        into newest, next from ${names.logs} log;
      if newest is null or newest < next then
        return 0;
      end if;
      -- Writers must not have begun with the old default. Then look again.
      lock table ${names.logs} in access exclusive mode;
    end loop;
    -- Every transaction that has yet to write has at least this number.
    ahead := greatest(shift, newest + 1 - pg_snapshot_xmin(pg_current_snapshot())::text::bigint);
    execute format('alter table %s alter column "position" set default ${TRANSACTION} + %L::bigint',
                   ${literal(names.logs)}, ahead);
    return ahead - shift;
  end $$`;
