import { literal } from '../counts/count-rows.v1.js';
import type { FeedNames } from './feed-names.js';
import { storedShift } from './positions.v1.js';

const SHIFT = '(shift)';

/** The first runs after all others of its kind, in the order of their names: a host's may change values too. */
const triggers = ({ logs, tellCorrection, tellDeletions }: FeedNames) => `
  create or replace trigger zz_tell_correction before update on ${logs} for each row
    when (old.* is distinct from new.*) execute function ${tellCorrection}('${SHIFT}');
  create or replace trigger tell_deletions after delete on ${logs} referencing old table as changed
    for each statement execute function ${tellDeletions}('${SHIFT}');
  create or replace trigger tell_new_id after update on ${logs} for each row
    when (old.id <> new.id) execute function ${tellDeletions}('${SHIFT}');
  create or replace trigger tell_truncation after truncate on ${logs}
    for each statement execute function ${tellDeletions}('${SHIFT}')`;

/**
 * Statements of PL/pgSQL: the triggers get the shift of the default as their argument. Whatever the snapshot of a
 * transaction, it runs a trigger with the argument that holds now, as it takes the default of now.
 */
export const setTellTriggers = (names: FeedNames) => `
  execute replace(${literal(triggers(names))}, '${SHIFT}', (${storedShift(names)})::text);`;
