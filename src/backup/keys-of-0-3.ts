import type { SavedTable } from './backup-file.js';

const NULL = '\\N';
const KEPT = ['principal', 'text', 'fingerprint', 'created_at'];

/** The columns of this version, and a function that makes a row with them of a saved one. */
interface Conversion {
  readonly columns: readonly string[];
  readonly convert: (row: string) => string;
}

/**
 * Returns how to convert the rows of a table in a backup. Keys of version 0.3 have no column `logs`: it gets what the
 * migration from 0.3 puts there.
 */
export function conversionOf({ table, columns }: SavedTable): Conversion {
  if (table !== 'time_log_keys' || !columns.includes('replaced')) return { columns, convert: (row) => row };
  const convert = (row: string) => {
    const fields = row.split('\t');
    const valueOf = (column: string) => fields[columns.indexOf(column)]!;
    return [...KEPT.map(valueOf), logsOf(valueOf)].join('\t');
  };
  return { columns: [...KEPT, 'logs'], convert };
}

function logsOf(valueOf: (column: string) => string): string {
  const [id, ids, replaced] = [valueOf('time_log_id'), valueOf('time_log_ids'), valueOf('replaced')];
  if (replaced.startsWith(`[{"id":"${id}"`)) return replaced;
  return JSON.stringify(ids === NULL ? [id] : ids.slice(1, -1).split(','));
}
