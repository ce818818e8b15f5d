import { AS_OWNER } from '../counts/count-layout.js';
import type { FeedNames } from './feed-names.js';

/**
 * Moves positions at a start where that is due, and returns by how much. Anybody may call it: it moves what would be
 * wrong otherwise, and nothing else. On a standby, and where changes are refused, it leaves that to a later start.
 */
export const keepTimeLogPositionsV1 = (names: FeedNames) => `
  create function ${names.keep}() returns bigint language plpgsql ${AS_OWNER} set lock_timeout = '10s' as $$
  begin
    return case when current_setting('transaction_read_only')::boolean then 0 else ${names.move}(null) end;
  end $$`;
