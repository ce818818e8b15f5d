import type { FeedNames } from './feed-names.js';
import { moveTimeLogPositionsV1 } from './move-time-log-positions.v1.js';
import { setTellTriggers } from './tell-triggers.v1.js';

/** The function of version 1, for which the places of deletions count too, and which moves what triggers write. */
export const moveTimeLogPositionsV2 = (names: FeedNames) => {
  const changed = /execute format\('alter table [^;]+;/;
  return moveTimeLogPositionsV1(names)
    .replace('create function', 'create or replace function')
    .replaceAll(`max("position") into newest from ${names.logs}`, `${newestPosition(names)} into newest`)
    .replace(changed, (statement) => statement + setTellTriggers(names));
};

/** Of all logs and deletions, and the mark; null where there are none. */
export const newestPosition = ({ logs, deletions }: FeedNames) =>
  `greatest((select max("position") from ${logs}), (select max("position") from ${deletions}))`;
