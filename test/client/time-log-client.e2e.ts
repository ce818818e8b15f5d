import { randomUUID } from 'node:crypto';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type NewTimeLog, type RecordedTimeLog, TimeLogClient, type TimeLogEvent } from '@time-logs/client';
import { failure } from '../support/client.js';
import { expectedLog } from '../support/expected-logs.js';
import { useTestApp } from '../support/test-app.js';
import { environment } from '../support/environment.js';
import { useFolder } from '../support/fixtures.js';

const app = useTestApp();
let client: TimeLogClient;
beforeAll(() => {
  client = new TimeLogClient({ baseUrl: app.url, token: app.token });
});

const newLog = (projectId: string = randomUUID()): NewTimeLog => ({
  projectId,
  duration: 0.1,
  date: '2026-01-31',
});
/** The values of a log, without its version. */
const valuesOf = ({ etag, ...log }: RecordedTimeLog) => {
  expect(etag).toMatch(/^"[\w-]{22}"$/);
  return log;
};
const totalOf = async (projectId: string) => (await client.listPage({ projectId, limit: 1 })).meta.total;

describe('the client and the service', () => {
  it('agree on health', () => expect(client.health()).resolves.toBeUndefined());

  it('agree on a log that is recorded and listed', async () => {
    const log = { ...newLog(), description: 'Grüße, “quoted” 𝄞 \n' };
    const recorded = valuesOf(await client.record(log));
    const { date, ...item } = recorded;
    expect(recorded).toEqual(expectedLog(log));
    expect(date).toBe(log.date);
    const filter = { projectId: log.projectId, from: '2026-01-31T00:00+14:00', to: '2026-01-31' };
    expect(await client.listPage({ ...filter, page: 1, limit: 7 })).toEqual({
      data: [item],
      meta: { total: 1, page: 1, limit: 7 },
    });
    expect(await client.listPage({ ...filter, page: 2 })).toEqual({
      data: [],
      meta: { total: 1, page: 2, limit: 50 },
    });
    const listed = [];
    for await (const log of client.list(filter)) listed.push(log);
    expect(listed).toEqual([item]);
  });

  it('agree on totals, whose sums are the nearest numbers', async () => {
    const log = newLog();
    for (const duration of [0.1, 0.2]) await client.record({ ...log, duration });
    const sum = { count: 2, duration: 0.3 };
    const { projectId } = log;
    expect(await client.totals({ projectId })).toEqual({
      data: [],
      meta: { ...sum, total: 0, page: 1, limit: 50 },
    });
    const filter = { projectId, to: '2026-01-31', by: 'project,week', page: 1, limit: 7 } as const;
    expect(await client.totals(filter)).toEqual({
      data: [{ projectId, from: '2026-01-26', to: '2026-01-31', ...sum }],
      meta: { ...sum, total: 1, page: 1, limit: 7 },
    });
    for (const duration of [Number.MAX_VALUE, Number.MAX_VALUE]) await client.record({ ...log, duration });
    expect((await client.totals({ projectId })).meta.duration).toBe(Infinity);
  });

  it('agree on events, which go to the end, or on for ever', async () => {
    const { id } = await client.record(newLog());
    const seen: TimeLogEvent[] = [];
    // Transactions of other tests, on the same server, may hold the event back.
    while (seen.at(-1)?.data.id !== id) {
      for await (const event of client.events({ after: seen.at(-1)?.id, pageSize: 1 })) seen.push(event);
    }
    const last = seen.at(-1)!;
    expect(last).toMatchObject({ type: 'time-log.created', data: { id, duration: 0.1 } });
    const following = client.events({ after: last.id, wait: 10 });
    const next = following.next();
    const later = valuesOf(await client.record(newLog()));
    expect((await next).value?.data).toEqual(later);
    await following.return();
  });

  it('agree on corrections and deletions', async () => {
    const log = newLog();
    const { id, createdAt } = await client.record(log);
    const values = { projectId: log.projectId, duration: 2, date: '2024-02-29' };
    const corrected = { ...values, description: '', id, createdAt };
    expect(valuesOf(await client.correct(id, values))).toEqual(corrected);
    expect(valuesOf(await client.get(id))).toEqual(corrected);
    expect(valuesOf(await client.patch(id, { duration: 3 }))).toEqual({ ...corrected, duration: 3 });
    await client.delete(id);
    const calls = [() => client.get(id), () => client.delete(id), () => client.correct(id, values)];
    for (const call of [...calls, () => client.patch(id, {})]) {
      expect(await failure(call())).toMatchObject({ code: 'NOT_FOUND', status: 404 });
    }
    expect(await totalOf(log.projectId)).toBe(0);
  });

  it('agree on versions: a change of an earlier one is refused', async () => {
    const { id, etag } = await client.record({ ...newLog(), description: 'mine' });
    const patched = await client.patch(id, { duration: 2, description: null }, { ifMatch: etag });
    expect(patched).toMatchObject({ duration: 2, description: '' });
    expect(patched.etag).not.toBe(etag);
    for (const call of [
      () => client.patch(id, { duration: 3 }, { ifMatch: etag }),
      () => client.correct(id, newLog(), { ifMatch: etag }),
      () => client.delete(id, { ifMatch: etag }),
    ]) {
      expect(await failure(call())).toMatchObject({
        code: 'PRECONDITION_FAILED',
        message: 'the log has changed since: get it again',
        isOutcomeUnknown: false,
      });
    }
    expect(await client.get(id)).toEqual(patched);
    await client.delete(id, { ifMatch: patched.etag });
  });

  it('agree on many logs at once, whatever their number and size', async () => {
    const projectId = randomUUID();
    const logs = Array.from({ length: 1_100 }, (_, index) => ({
      ...newLog(projectId),
      duration: index + 1,
      description: index < 300 ? '𝄞'.repeat(1_000) : '',
    }));
    const options = { idempotencyKey: randomUUID() };
    const recorded = await client.recordAll(logs, options);
    expect(recorded).toEqual(logs.map((log, index) => expectedLog(log, recorded[index])));
    expect(await client.recordAll(logs, options)).toEqual(recorded);
    expect(await totalOf(projectId)).toBe(1_100);
    const wrong = logs.map((log, index) => (index === 1_099 ? { ...log, duration: 0 } : log));
    const error = await failure(client.recordAll(wrong));
    expect(error.message).toMatch(
      /^timeLogs\[1099\]\.duration must be a positive number; the first \d+ logs/,
    );
    expect(await totalOf(projectId)).toBe(1_100 + error.stored!);
  });

  it('agree on an export of several projects, as logs and as CSV', async () => {
    const projectId = [randomUUID(), randomUUID()];
    const logs = await client.recordAll(
      [...projectId, ...projectId].map((id, index) => ({ ...newLog(id), description: `"${index}", a\nb` })),
    );
    const exported = [];
    for await (const log of await client.export({ projectId, from: '2026-01-01' })) exported.push(log);
    expect(exported).toEqual(logs);
    expect(await client.listPage({ projectId })).toMatchObject({ meta: { total: 4 } });
    const parts = [];
    for await (const part of await client.exportCsv({ projectId })) parts.push(part);
    const [header, first] = Buffer.concat(parts).toString().split('\n');
    expect(header).toBe('id,projectId,date,duration,description,createdAt');
    expect(first).toBe(`${logs[0]!.id},${projectId[0]},2026-01-31,0.1,"""0"", a`);
  });

  it('agree on a copy, which follows what becomes of logs', async () => {
    await app.dataSource.query('truncate time_logs');
    const copy: Parameters<TimeLogClient['follow']>[0] = new Map();
    let last: string | undefined;
    const followed = async (ids: readonly string[]) => {
      // Transactions of other tests, on the same server, may hold events back.
      for (;;) {
        for await (const { id } of client.follow(copy, { after: last, pageSize: 3 })) last = id;
        const all = new Map();
        for await (const { id } of client.list()) all.set(id, valuesOf(await client.get(id)));
        if (all.size === copy.size && ids.every((id) => copy.has(id))) {
          expect(copy).toEqual(all);
          return;
        }
      }
    };
    const logs: RecordedTimeLog[] = [];
    while (logs.length < 7) logs.push(await client.record(newLog()));
    await followed(logs.map(({ id }) => id));
    const [deleted, corrected] = logs as [RecordedTimeLog, RecordedTimeLog];
    await client.delete(deleted.id);
    await client.correct(corrected.id, { ...newLog(), duration: 7 });
    const { id } = await client.record(newLog());
    await followed([id]);
    expect([copy.has(deleted.id), copy.get(corrected.id)?.duration]).toEqual([false, 7]);
    await app.dataSource.query('truncate time_logs');
    const { id: first } = await client.record(newLog());
    await followed([first]);
    expect([...copy.keys()]).toEqual([first]);
    // One that starts with an export.
    const exported = new Map<string, RecordedTimeLog>();
    let after = await client.copy(exported);
    expect([...exported.keys()]).toEqual([first]);
    await client.delete(first);
    const { id: second } = await client.record(newLog());
    while (!exported.has(second)) after = await client.copy(exported, { after });
    expect([...exported.keys()]).toEqual([second]);
  });
});

const PROGRAM = join(import.meta.dirname, '../../libs/time-log-client/examples/import-csv.mjs');

describe('the import of a CSV file by the client', () => {
  const inFolder = useFolder('import-csv-');

  const run = async (rows: readonly string[], token = app.token) => {
    await writeFile(inFolder('rows.csv'), ['projectId,date,duration,description', ...rows, ''].join('\n'));
    const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, inFolder('rows.csv')], {
      env: environment({ TIME_LOGS_URL: app.url, TIME_LOGS_TOKEN: token }),
    });
    return stdout;
  };

  it('records each row once, however often it runs, also of a longer file and with another token', async () => {
    const project = randomUUID().toUpperCase();
    const row = (index: number) =>
      `${project},2026-01-${10 + (index % 20)},0.25,"Review", part ${index % 700}`;
    const rows = Array.from({ length: 1_500 }, (_, index) => row(index));
    expect(await run(rows)).toBe('recorded 1500 of 1500 rows\n');
    expect(await run(rows)).toBe('recorded 0 of 1500 rows\n');
    const { token } = await app.tokens.create({
      name: 'another',
      scopes: ['time-logs:read', 'time-logs:write'],
    });
    expect(await run([row(0), ...rows], token)).toBe('recorded 1 of 1501 rows\n');
    expect(await totalOf(project)).toBe(1_501);
  });
});
