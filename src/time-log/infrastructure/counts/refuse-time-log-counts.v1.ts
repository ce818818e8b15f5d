import type { CountNames } from './count-layout.js';

/** A trigger's, before a row of counts: takes none. */
export const refuseTimeLogCountsV1 = ({ guard }: CountNames) => `
  create function ${guard}() returns trigger language plpgsql as 'begin return null; end'`;
