import { AS_OWNER } from '../counts/count-layout.js';
import type { FeedNames } from './feed-names.js';
import { TRANSACTION } from './positions.v1.js';

/** No log has this id: it is no UUIDv7. */
export const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
/** The most logs in memory at a time: 10 MB. */
const PART = 100_000;
const HERE = `${TRANSACTION} + tg_argv[0]::bigint`;

/**
 * For triggers, with the shift as their argument: after a statement that deletes logs, after the update of a log that
 * changes its id, and after TRUNCATE, which only leaves the mark. It reads the logs of a statement into arrays, as the
 * counts do. A log that is deleted twice in one transaction leaves one row. Where the mark is later than this
 * transaction, nobody would be told, and it writes none.
 */
export const tellTimeLogDeletionsV1 = (names: FeedNames) => `
  create function ${names.tellDeletions}() returns trigger language plpgsql ${AS_OWNER} as $$
  #variable_conflict use_column
  declare
    ids uuid[];
    projects uuid[];
    positions bigint[];
  begin
    if tg_op <> 'TRUNCATE' and exists (
      select from ${names.deletions} mark
       where mark.project_id is null and (mark."position", mark.id) >= (${HERE}, '${LAST_ID}')) then
      return null;
    end if;
    case tg_op
    when 'DELETE' then
      for ids, projects, positions in
        select array_agg(id), array_agg(project_id), array_agg("position")
          from (select id, project_id, "position", (row_number() over () - 1) / ${PART} as part from changed) numbered
         group by part
      loop
        -- A log that was stored again after its deletion: that has the id of an event that was told of the log.
        delete from ${names.deletions} deletion using unnest(positions, ids) as gone ("position", id)
         where deletion."position" = gone."position" and deletion.id = gone.id and deletion.project_id is not null;
        ${keep(names)}
      end loop;
    when 'UPDATE' then
      ids := array[old.id];
      projects := array[old.project_id];
      ${keep(names)}
    else
      delete from ${names.deletions};
      insert into ${names.deletions} ("position", id, project_id, deleted_at)
      -- Logs from before it are told one position further: no log of this transaction is there.
      values (${HERE} - 2, '${LAST_ID}', null, clock_timestamp());
    end case;
    return null;
  end $$`;

const keep = ({ deletions }: FeedNames) => `
        insert into ${deletions} ("position", id, project_id, deleted_at)
        select ${HERE}, id, project_id, clock_timestamp() from unnest(ids, projects) as gone (id, project_id)
        on conflict ("position", id) do update set project_id = excluded.project_id, deleted_at = excluded.deleted_at;`;
