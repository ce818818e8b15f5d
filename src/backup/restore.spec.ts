import { expect, it } from '@jest/globals';
import { conversionOf } from './restore.js';

const ID = '01a21c41-58ea-743f-a2b7-69e5236f3c6f';
const OTHER = '01a21c41-58ea-743f-a2b7-69e5236f3c70';
const columns = ['principal', 'text', 'fingerprint', 'time_log_id', 'time_log_ids', 'replaced', 'created_at'];
const KEPT = ['principal', 'text', 'fingerprint', 'created_at'];

function convert(table: string, saved: readonly string[], ...rows: string[]): unknown {
  const { columns: converted, convert: convertRow } = conversionOf({ table, columns: [...saved] });
  return [converted, rows.map(convertRow)];
}

it('gives the keys of version 0.3 their logs, or the ids of those that were recorded as sent', () => {
  const row = (id: string, ids: string, replaced: string) =>
    ['ada', 'a\\tkey', '\\\\x57', id, ids, replaced, '2026-11-27'].join('\t');
  const logs = `[{"id":"${ID}","description":"two\\\\nlines 漢字"}]`;
  const key = (text: string) => ['ada', 'a\\tkey', '\\\\x57', '2026-11-27', text].join('\t');
  expect(
    convert(
      'time_log_keys',
      columns,
      row(ID, '\\N', '\\N'),
      row(ID, `{${ID},${OTHER}}`, '\\N'),
      row(ID, '\\N', logs),
      // Version 0.2 took over this key, with the logs of an earlier one.
      row(OTHER, '\\N', logs),
    ),
  ).toEqual([
    [...KEPT, 'logs'],
    [key(`["${ID}"]`), key(`["${ID}","${OTHER}"]`), key(logs), key(`["${OTHER}"]`)],
  ]);
});

it.each([
  ['time_logs', ['id', 'description'], `${ID}\ttext`],
  ['time_log_keys', [...KEPT, 'logs'], 'ada\tkey\t\\\\x57\t2026-11-27\t[]'],
])('leaves the rows of other tables and versions as they are: %s', (table, saved, row) => {
  expect(convert(table, saved, row)).toEqual([saved, [row]]);
});
