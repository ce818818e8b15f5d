import type { FeedNames } from './feed-names.js';
import { storedShift } from './positions.v1.js';

/**
 * Forgets deletions up to the last one of before a day (UTC), of which the mark is left. Returns how many. Those that
 * are not final yet stay, and so do those right before the horizon: the position after the mark must be final too.
 * Nor is the mark moved to that position: whoever stands there at a log from before the mark would be taken for one
 * who has read up to there.
 */
export const forgetTimeLogDeletionsV1 = ({ deletions, forgetDeletions, ...names }: FeedNames) => `
  create function ${forgetDeletions}(before date) returns bigint language plpgsql as $$
  #variable_conflict use_column
  declare
    last_position bigint;
    last_id uuid;
    forgotten bigint;
  begin
    select "position", id into last_position, last_id from ${deletions} gone
     where project_id is not null and deleted_at < before::timestamp at time zone 'UTC'
       and "position" + 1 < pg_snapshot_xmin(pg_current_snapshot())::text::bigint + ${storedShift({ deletions, forgetDeletions, ...names })}
       and not exists (select from ${deletions} mark where mark.project_id is null and mark."position" + 1 = gone."position")
     order by "position" desc, id desc limit 1;
    if last_position is null then
      return 0;
    end if;
    with gone as (
      delete from ${deletions} where ("position", id) < (last_position, last_id) returning project_id
    )
    select count(project_id) + 1 into forgotten from gone;
    update ${deletions} set project_id = null where "position" = last_position and id = last_id;
    return forgotten;
  end $$`;
