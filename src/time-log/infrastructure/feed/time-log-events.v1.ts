import type { FeedNames } from './feed-names.js';
import { storedShift } from './positions.v1.js';

/** Along the index whatever the statistics say: they may be stale or missing. */
export const ALONG_THE_INDEX = `set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off`;

/**
 * The logs after a place in the feed (null: its beginning), with their positions, in their order for ever. STABLE: the
 * shift, the horizon and the rows are those of one snapshot, that of the statement that calls it. With another snapshot
 * for one of them, a log that is committed in between would be passed over.
 */
export const timeLogEventsV1 = (names: FeedNames) => `
  create function ${names.events}(after_position bigint, after_id uuid, event_limit integer)
    returns table ("position" bigint, log ${names.logs})
    stable language plpgsql ${ALONG_THE_INDEX} as $$
  #variable_conflict use_column
  declare
    shift bigint := ${storedShift(names)};
    -- From here on there may still come rows: of transactions that are under way, or have not begun.
    horizon bigint := pg_snapshot_xmin(pg_current_snapshot())::text::bigint + shift;
  begin
    return query
      select log."position", log from ${names.logs} log
       where (log."position", log.id)
               > (coalesce(after_position, 0), coalesce(after_id, '00000000-0000-0000-0000-000000000000'))
         and log."position" < horizon
       order by log."position", log.id limit event_limit;
  end $$`;
