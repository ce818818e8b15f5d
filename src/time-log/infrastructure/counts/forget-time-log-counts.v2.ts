import { AS_OWNER, type CountNames } from './count-layout.js';
import { READ_COMMITTED } from './count-rows.v2.js';

/**
 * A trigger's, after TRUNCATE of the logs, which sees what was committed while it waited for the writers. Only under
 * READ COMMITTED does its DELETE see it too. TRUNCATE of the counts would do so always, and is no way out: it locks
 * out readers, and a list holds the counts while it waits for the logs, so that each would wait for the other.
 */
export const forgetTimeLogCountsV2 = ({ counts, forget }: CountNames) => `
  create or replace function ${forget}() returns trigger language plpgsql ${AS_OWNER} as $$
  begin
    ${READ_COMMITTED}
    delete from ${counts};
    return null;
  end $$`;
