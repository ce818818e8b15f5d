import { ALONG_INDEXES, NIL } from '../counts/count-layout.js';
import { literal } from '../counts/count-rows.v1.js';
import type { FeedNames } from './feed-names.js';
import { storedShift } from './positions.v1.js';

/** SQLSTATE: what a reader must know about logs before this place is forgotten. */
export const GONE = 'TL410';

/**
 * What happened after a place in the feed (null: its beginning): logs as they are, and deletions, of each the one or
 * the other, in their order. From before the mark no deletion is known: places there raise ${GONE}, and logs from there
 * have the position after the mark, so that whoever begins now has another place than whoever began before. STABLE: the
 * shift, the horizon and the rows are those of one snapshot, that of the statement that calls it. With another snapshot
 * for one of them, a log that is committed in between would be passed over.
 */
export const timeLogEventsV1 = ({ events, deletions, ...names }: FeedNames) => `
  create function ${events}(after_position bigint, after_id uuid, event_limit integer)
    returns table ("position" bigint, log ${names.logs}, deletion ${deletions})
    stable language plpgsql ${ALONG_INDEXES} as $$
  #variable_conflict use_column
  declare
    shift bigint := ${storedShift({ events, deletions, ...names })};
    -- From here on there may still come events: of transactions that are under way, or have not begun.
    horizon bigint := pg_snapshot_xmin(pg_current_snapshot())::text::bigint + shift;
    begun_position bigint := coalesce(after_position, 0);
    begun_id uuid := coalesce(after_id, ${NIL});
    mark_position bigint;
    mark_id uuid;
  begin
    select "position", id into mark_position, mark_id from ${deletions}
     where project_id is null order by "position" desc, id desc limit 1;
    if mark_position + 1 = after_position then
      -- A log from before the mark, or what happened at this position.
      select min(place."position") into begun_position
        from (select "position" from ${names.logs} where id = after_id and "position" <= after_position
              union all select "position" from ${deletions} where "position" = after_position and id = after_id) place;
    elsif (after_position, after_id) < (mark_position, mark_id) then
      begun_position := null;
    end if;
    if begun_position is null then
      raise exception 'the feed of % no longer reaches back to this event', ${literal(names.logs)} using errcode = '${GONE}';
    end if;
    -- What is before the mark is told at one position: all of it must be final.
    if mark_position + 1 >= horizon then
      return;
    end if;
    return query
      -- Where a log was stored again in the transaction that deleted it, both are at one place: the log is told.
      select distinct on (place, id)
             case when (place, id) < (mark_position, mark_id) then mark_position + 1 else place end as told, log, deletion
        from ((select log."position" as place, log.id, log, null::${deletions} as deletion from ${names.logs} log
                where (log."position", log.id) > (begun_position, begun_id) and log."position" < horizon
                order by log."position", log.id limit event_limit)
              union all
              (select gone."position", gone.id, null, gone from ${deletions} gone
                where (gone."position", gone.id) > (begun_position, begun_id) and gone."position" < horizon
                  and (gone."position", gone.id) > (coalesce(mark_position, 0), coalesce(mark_id, ${NIL}))
                order by gone."position", gone.id limit event_limit)) happened
       order by place, id, deletion is not null limit event_limit;
  end $$`;
