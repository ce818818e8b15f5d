import { ALONG_INDEXES } from '../counts/count-layout.js';
import type { FeedNames } from './feed-names.js';
import { storedShift } from './positions.v1.js';
import { LAST_ID } from './tell-time-log-deletions.v1.js';

/**
 * Drops the next logs whose `date` is before a day, after a place in the order of `(date, id)`: at most so many, and
 * none that others hold. Returns how many, and the place of the last one.
 *
 * With `following`, the number of a transaction that is open and has begun later than this one, the feed does not tell
 * that they are gone. It gets a mark right before the place of that transaction instead. So whoever has read any of
 * them begins anew, and gets nothing before that transaction has ended: a chain of such transactions, each open when
 * the one before commits, drops any number of logs, and readers begin anew once. Deletions from before the mark are
 * never told, so as many of them are removed too.
 */
export const dropTimeLogsV1 = ({ logs, deletions, dropLogs, ...names }: FeedNames) => `
  create function ${dropLogs}(before date, after_date date, after_id uuid, most integer, following bigint)
    returns table (dropped integer, removed integer, last_date date, last_id uuid)
    language plpgsql ${ALONG_INDEXES} as $$
  #variable_conflict use_column
  declare
    rows tid[];
  begin
    removed := 0;
    select array_agg(place), count(*), (array_agg(date order by date desc, id desc))[1], (array_agg(id order by date desc, id desc))[1]
      into rows, dropped, last_date, last_id
      from (select ctid as place, date, id from ${logs}
             where date < before and (date, id) > (after_date, after_id)
             order by date, id limit most for update skip locked) found;
    if following is not null then
      if following <= pg_current_xact_id()::text::bigint then
        raise exception 'the transaction that follows must have begun later than this one';
      end if;
      if dropped > 0 then
        insert into ${deletions} ("position", id, project_id, deleted_at)
        values (following - 1 + ${storedShift({ logs, deletions, dropLogs, ...names })}, '${LAST_ID}', null, clock_timestamp());
      end if;
      delete from ${deletions} where ctid = any (array(
        select gone.ctid from ${deletions} gone
         where (gone."position", gone.id) < (select mark."position", mark.id from ${deletions} mark
                                              where mark.project_id is null order by mark."position" desc, mark.id desc limit 1)
         order by gone."position", gone.id limit most for update skip locked));
      get diagnostics removed = row_count;
    end if;
    delete from ${logs} where ctid = any (rows);
    return next;
  end $$`;
