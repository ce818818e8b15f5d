import { AS_OWNER } from '../counts/count-layout.js';
import type { FeedNames } from './feed-names.js';
import { TRANSACTION } from './positions.v1.js';

/**
 * For a trigger before the update of a log, with the shift as its argument: the row moves to the end of the feed where
 * a value changes. Nobody may put it before a place that readers have passed.
 */
export const tellTimeLogCorrectionV1 = ({ deletions, tellCorrection }: FeedNames) => `
  create function ${tellCorrection}() returns trigger language plpgsql ${AS_OWNER} as $$
  declare
    here constant bigint := ${TRANSACTION} + tg_argv[0]::bigint;
    asked constant bigint := new."position";
  begin
    new."position" := old."position";
    new.corrected_at := old.corrected_at;
    if new is distinct from old then
      if new.id <> old.id then
        new.corrected_at := null;
      elsif old."position" <> here then
        -- What this transaction has recorded itself stays created.
        new.corrected_at := clock_timestamp();
      end if;
      new."position" := here;
    end if;
    if asked <> old."position" then
      new."position" := greatest(asked, here);
    end if;
    if new."position" <> old."position" then
      -- It has the id of an event that was told of the log.
      delete from ${deletions} where "position" = old."position" and id = old.id and project_id is not null;
    end if;
    return new;
  end $$`;
