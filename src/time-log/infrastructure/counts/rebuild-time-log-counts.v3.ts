import type { CountNames } from './count-layout.js';
import { add } from './count-rows.v1.js';
import { addSums } from './count-rows.v3.js';
import { rebuildTimeLogCountsV2 } from './rebuild-time-log-counts.v2.js';

/** The function of version 2, which mends sums too: it returns how many rows had a wrong count or sum. */
export const rebuildTimeLogCountsV3 = (names: CountNames) =>
  rebuildTimeLogCountsV2(names).replace(
    add(names, `select * from ${names.differences}()`),
    addSums(names, `select * from ${names.differencesV2}()`),
  );
