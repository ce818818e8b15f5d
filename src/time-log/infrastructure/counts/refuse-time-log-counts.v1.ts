import type { CountNames } from './count-layout.js';

/** For a trigger before a row of counts: refuses it. */
export const refuseTimeLogCountsV1 = ({ guard }: CountNames) => `
  create function ${guard}() returns trigger language plpgsql as 'begin return null; end'`;
