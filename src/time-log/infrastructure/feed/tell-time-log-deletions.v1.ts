import { AS_OWNER } from '../counts/count-layout.js';
import type { FeedNames } from './feed-names.js';
import { TRANSACTION } from './positions.v1.js';

/** No log has this id: it is no UUIDv7. */
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * For triggers, with the shift as their argument: after a statement that deletes logs, after the update of a log that
 * changes its id, and after TRUNCATE, which only leaves the mark. It reads the logs of a statement once, into arrays, as
 * the counts do. A log that is deleted twice in one transaction leaves one row.
 */
export const tellTimeLogDeletionsV1 = ({ deletions, tellDeletions }: FeedNames) => `
  create function ${tellDeletions}() returns trigger language plpgsql ${AS_OWNER} as $$
  #variable_conflict use_column
  declare
    ids uuid[];
    projects uuid[];
    positions bigint[];
  begin
    case tg_op
    when 'DELETE' then
      select array_agg(id), array_agg(project_id), array_agg("position") into ids, projects, positions from changed;
      -- The log was stored again after a deletion: that has the id of an event that was told of the log.
      delete from ${deletions} deletion using unnest(positions, ids) as gone ("position", id)
       where deletion."position" = gone."position" and deletion.id = gone.id and deletion.project_id is not null;
    when 'UPDATE' then
      ids := array[old.id];
      projects := array[old.project_id];
    else
      delete from ${deletions};
      insert into ${deletions} ("position", id, project_id, deleted_at)
      -- Logs from before it are told one position further: no log of this transaction is there.
      values (${TRANSACTION} + tg_argv[0]::bigint - 2, '${LAST_ID}', null, clock_timestamp());
    end case;
    insert into ${deletions} ("position", id, project_id, deleted_at)
    select ${TRANSACTION} + tg_argv[0]::bigint, id, project_id, clock_timestamp()
      from unnest(ids, projects) as gone (id, project_id)
    on conflict ("position", id) do update set project_id = excluded.project_id, deleted_at = excluded.deleted_at;
    return null;
  end $$`;
