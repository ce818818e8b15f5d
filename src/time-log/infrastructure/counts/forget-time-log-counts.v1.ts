import { AS_OWNER, type CountNames } from './count-layout.js';

/** For a trigger after TRUNCATE of the logs. */
export const forgetTimeLogCountsV1 = ({ counts, forget }: CountNames) => `
  create function ${forget}() returns trigger language plpgsql ${AS_OWNER} as $$
  begin
    delete from ${counts};
    return null;
  end $$`;
