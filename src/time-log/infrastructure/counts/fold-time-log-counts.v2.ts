import type { CountNames } from './count-layout.js';
import { addToSlot } from './count-rows.v1.js';
import { addSumsToSlot } from './count-rows.v3.js';
import { foldTimeLogCountsV1 } from './fold-time-log-counts.v1.js';

const MOVED = 'select * from moved';

/** The function of version 1, which moves sums too. */
export const foldTimeLogCountsV2 = (names: CountNames) =>
  foldTimeLogCountsV1(names)
    .replace('create function', 'create or replace function')
    .replace(addToSlot(names, MOVED), addSumsToSlot(names, MOVED));
