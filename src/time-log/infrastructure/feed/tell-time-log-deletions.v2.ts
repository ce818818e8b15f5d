import type { FeedNames } from './feed-names.js';
import { HERE, LAST_ID, tellTimeLogDeletionsV1 } from './tell-time-log-deletions.v1.js';

/** The function of version 1, which writes no rows that nobody would be told: those of before a mark. */
export const tellTimeLogDeletionsV2 = (names: FeedNames) =>
  tellTimeLogDeletionsV1(names)
    .replace('create function', 'create or replace function')
    .replace(
      'begin\n',
      `begin
    if tg_op <> 'TRUNCATE' and exists (
      select from ${names.deletions} mark
       where mark.project_id is null and (mark."position", mark.id) >= (${HERE}, '${LAST_ID}')) then
      return null;
    end if;
`,
    );
