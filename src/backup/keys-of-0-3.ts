import type { SavedTable } from './backup-file.js';

const NULL = '\\N';

/**
 * Returns a table of a backup, and its rows in the text format of COPY, with the columns of this version. Keys of
 * version 0.3 have no column `logs`: it gets what the migration from 0.3 puts there.
 */
export function convertKeys(
  saved: SavedTable,
  rows: AsyncIterable<Buffer>,
): { readonly columns: readonly string[]; readonly rows: AsyncIterable<Buffer | string> } {
  const { table, columns } = saved;
  if (table !== 'time_log_keys' || !columns.includes('replaced')) return { columns, rows };
  const kept = ['principal', 'text', 'fingerprint', 'created_at'];
  const convert = (row: string) => {
    const fields = row.split('\t');
    const valueOf = (column: string) => fields[columns.indexOf(column)]!;
    return [...kept.map(valueOf), logsOf(valueOf)].join('\t');
  };
  return { columns: [...kept, 'logs'], rows: convertLines(rows, convert) };
}

async function* convertLines(
  blocks: AsyncIterable<Buffer>,
  convert: (row: string) => string,
): AsyncGenerator<string> {
  for await (const block of blocks) yield block.toString().replace(/.+/g, convert);
}

function logsOf(valueOf: (column: string) => string): string {
  const [id, ids, replaced] = [valueOf('time_log_id'), valueOf('time_log_ids'), valueOf('replaced')];
  if (replaced.startsWith(`[{"id":"${id}"`)) return replaced;
  return JSON.stringify(ids === NULL ? [id] : ids.slice(1, -1).split(','));
}
