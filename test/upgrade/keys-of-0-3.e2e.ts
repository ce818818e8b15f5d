import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { withSql } from '../support/backup-rows.js';
import { runHere, startHere } from '../support/service-here.js';
import { expectedLog } from '../support/expected-logs.js';
import { queryOnce } from '../support/postgres-cluster.js';
import { sendUnchecked, TIME_LOGS } from '../support/requests.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { loadVersion03 } from './version-0-3.js';

const file = (name: string) => join(import.meta.dirname, name);
const { token } = JSON.parse(readFileSync(file('v0.3.json'), 'utf8')) as { readonly token: string };
const DAY_MS = 86_400_000;
const REUSED = [422, null, 'IDEMPOTENCY_KEY_REUSED'];
const settingsOf = ({ url }: TestDatabase) => ({
  DATABASE_URL: url,
  ATTRIBUTES_SCHEMA: file('v0.3.attributes.json'),
});

/** The log that `test/lab/upgrade/make.mjs` has sent as number `n`: odd ones up to 299 with the key `key n`. */
const logOf = (n: number) => ({
  projectId: `0a000000-0000-4000-8000-00000000000${Math.floor(Math.sqrt((n * 29) % 81))}`,
  duration: [0.1, 7.5, 1e-7, 123456.789, 0.25][n % 5]!,
  date: new Date(Date.UTC(2024, 0, 1) + ((n * 37) % 1000) * DAY_MS).toISOString().slice(0, 10),
  description: [undefined, 'Réunion', 'tab\there, two\nlines \\N', '漢字 😀'][n % 4],
  ...(n % 3 > 0 && { attributes: { userId: ['ada', 'grace', 'Ø'][(n % 7) % 3], billable: n % 5 > 0 } }),
});
/** Numbers whose log was recorded with a key, and has not changed, was corrected, moved or deleted since. */
const SINGLES = [7, 9, 11, 29, 41, 59, 71, 93, 299];
/** The first numbers of two batches of 50 logs; those of the second have got other attributes, in part. */
const BATCHES = [300, 550];
const batchOf = (n: number) => Array.from({ length: 50 }, (_, more) => logOf(n + more));

const createdAtOf = (id: string) =>
  new Date(Number.parseInt(id.replace('-', '').slice(0, 12), 16)).toISOString();
const answerOf = (n: number, id: string) => {
  const { description = '', ...values } = logOf(n);
  return expectedLog({ ...values, description }, { id, createdAt: createdAtOf(id) });
};

/** The values of a hook; and logs of an earlier key, which version 0.2 left when it took over an expired one. */
const HOOKED = { ...logOf(3), description: 'stamped', attributes: { zz: 1, userId: 'ada' } };
const REPLACED = `
  update time_log_keys set replaced = json_build_array(json_build_object('id', time_log_id,
    'projectId', '${HOOKED.projectId}', 'duration', ${HOOKED.duration}, 'description', 'stamped', 'date', '${HOOKED.date}',
    'attributes', '${JSON.stringify(HOOKED.attributes)}'::json, 'createdAt', '2026-01-01')) where text = 'key 3';
  update time_log_keys set replaced = json_build_array(json_build_object('id', gen_random_uuid())) where text = 'key 5'`;

async function loaded(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  await loadVersion03(database);
  await queryOnce(database.url, REPLACED);
  return database;
}

async function restored(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  for (const [command, ...args] of [['restore', file('v0.3.backup.gz')], ['migrate']] as const)
    expect(await runHere(command, args, settingsOf(database))).toMatchObject({ code: 0, stderr: '' });
  return database;
}

describe.each([
  ['a database', loaded],
  ['a backup', restored],
] as const)('a key of %s of version 0.3', (source, make) => {
  it('brings the first answer again, and refuses other values', async () => {
    const [reference, database] = [await loaded(), await make()];
    const idsOf = async (key: string) => {
      const [row] = await queryOnce<{ ids: string[] }>(
        reference.url,
        `select coalesce(time_log_ids, array[time_log_id]) as ids from time_log_keys where text = '${key}'`,
      );
      return row!.ids;
    };
    const rows =
      'select md5(string_agg(id::text || duration || description, chr(10) order by id)) from time_logs';
    const service = await startHere(settingsOf(database));
    const send = async (path: string, key: string, body: object) => {
      const target = { port: service.port, token };
      const headers = { 'idempotency-key': key };
      const answer = await sendUnchecked(target, 'POST', TIME_LOGS + path, body, headers);
      const { data, error } = answer.body as { readonly data?: unknown; readonly error?: string };
      return [answer.status, answer.headers.get('idempotency-replayed'), data ?? error];
    };
    try {
      // They are a day old.
      await withSql(database.url, (sql) => sql.query('update time_log_keys set created_at = now()'));
      const before = await queryOnce(database.url, rows);
      for (const n of [5, ...SINGLES]) {
        const [id] = await idsOf(`key ${n}`);
        expect(await send('', `key ${n}`, logOf(n))).toEqual([201, 'true', answerOf(n, id!)]);
        expect(await send('', `key ${n}`, { ...logOf(n), duration: 99 })).toEqual(REUSED);
      }
      for (const n of BATCHES) {
        const ids = await idsOf(`key ${n}`);
        const answers = ids.map((id, index) => answerOf(n + index, id));
        expect(await send('/batch', `key ${n}`, { timeLogs: batchOf(n) })).toEqual([201, 'true', answers]);
        const reordered = batchOf(n).toReversed();
        expect(await send('/batch', `key ${n}`, { timeLogs: reordered })).toEqual(REUSED);
        expect(await send('', `key ${n}`, logOf(n))).toEqual(REUSED);
      }
      const [id] = await idsOf('key 3');
      const hooked = { ...answerOf(3, id!), ...HOOKED };
      const [, , answer] = await send('', 'key 3', logOf(3));
      expect(answer).toEqual(source === 'a database' ? hooked : answerOf(3, id!));
      expect(await queryOnce(database.url, rows)).toEqual(before);
    } finally {
      await service.end();
      await Promise.all([reference.drop(), database.drop()]);
    }
  });
});
