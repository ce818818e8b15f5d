import { expect, it } from '@jest/globals';
import { convertKeys } from './keys-of-0-3.js';

const ID = '01a21c41-58ea-743f-a2b7-69e5236f3c6f';
const OTHER = '01a21c41-58ea-743f-a2b7-69e5236f3c70';
const columns = ['principal', 'text', 'fingerprint', 'time_log_id', 'time_log_ids', 'replaced', 'created_at'];
const KEPT = ['principal', 'text', 'fingerprint', 'created_at'];

async function convert(table: string, saved: readonly string[], ...rows: string[]): Promise<unknown> {
  const blocks = (async function* () {
    for (const row of rows) yield Buffer.from(row);
  })();
  const converted = convertKeys({ table, columns: [...saved] }, blocks);
  let text = '';
  for await (const block of converted.rows) text += block.toString();
  return [converted.columns, text];
}

it('gives the keys of version 0.3 their logs, or the ids of those that were recorded as sent', async () => {
  const row = (id: string, ids: string, replaced: string) =>
    ['ada', 'a\\tkey', '\\\\x57', id, ids, replaced, '2026-11-27'].join('\t') + '\n';
  const logs = `[{"id":"${ID}","description":"two\\\\nlines 漢字"}]`;
  const key = (text: string) => ['ada', 'a\\tkey', '\\\\x57', '2026-11-27', text].join('\t') + '\n';
  expect(
    await convert(
      'time_log_keys',
      columns,
      row(ID, '\\N', '\\N') + row(ID, `{${ID},${OTHER}}`, '\\N'),
      // The last one was taken over by version 0.2, with the logs of an earlier key.
      row(ID, '\\N', logs) + row(OTHER, '\\N', logs),
    ),
  ).toEqual([
    [...KEPT, 'logs'],
    key(`["${ID}"]`) + key(`["${ID}","${OTHER}"]`) + key(logs) + key(`["${OTHER}"]`),
  ]);
});

it.each([
  ['time_logs', ['id', 'description'], `${ID}\ttext\n`],
  ['time_log_keys', [...KEPT, 'logs'], 'ada\tkey\t\\\\x57\t2026-11-27\t[]\n'],
])('leaves the rows of other tables and versions as they are: %s', async (table, saved, rows) => {
  expect(await convert(table, saved, rows)).toEqual([saved, rows]);
});
