import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { expectedLog } from '../support/expected-logs.js';
import { createAll, dataOf, get, LOG, outcome, refusal, totalOf } from '../support/requests.js';
import { useTestApp } from '../support/test-app.js';

const app = useTestApp();
const record = (body: unknown, headers = {}) => createAll(app, body, headers);

/** Logs that differ, of a project of their own. */
function newLogs(count: number): (typeof LOG)[] {
  const projectId = randomUUID();
  return Array.from({ length: count }, (_, index) => ({ ...LOG, projectId, duration: index + 0.5 }));
}

const invalid = (message: string) => [400, refusal('VALIDATION_ERROR', message)];
const recorded = (logs: readonly (typeof LOG)[]) => [
  201,
  { success: true, data: logs.map((log) => expectedLog(log)) },
];
const DURATION = 'duration must be a positive number';
const COUNT = 'timeLogs must be an array of 1 to 1000 time logs';

describe('POST /api/v1/time-logs/batch', () => {
  it.each([1, 1000])('records %d logs, and answers with them in their order', async (count) => {
    const logs = newLogs(count);
    const answer = await record({ timeLogs: logs });
    expect(outcome(answer)).toEqual(recorded(logs));
    for (const name of ['location', 'etag', 'idempotency-replayed'])
      expect(answer.headers.get(name)).toBeNull();
    const data = dataOf(answer) as { id: string }[];
    expect(new Set(data.map(({ id }) => id)).size).toBe(count);
    expect(outcome(await get(app, data.at(-1)!.id))).toEqual([200, { success: true, data: data.at(-1) }]);
    expect(await totalOf(app, `projectId=${logs[0]!.projectId}`)).toBe(count);
  });

  it.each<[string, unknown, string]>([
    ['no list', {}, COUNT],
    ['1001 logs', { timeLogs: Array(1001).fill(LOG) }, COUNT],
    [
      'an element that is no object',
      { timeLogs: [LOG, null, [LOG], 'x'] },
      [1, 2, 3].map((index) => `timeLogs[${index}] must be a JSON object`).join('; '),
    ],
    [
      'ten faults of more',
      { timeLogs: Array(37).fill({ ...LOG, duration: undefined }) },
      `${Array.from({ length: 10 }, (_, index) => `timeLogs[${index}].${DURATION}`).join('; ')}; and 27 more`,
    ],
  ])('refuses %s', async (_what, body, message) => {
    const total = await totalOf(app);
    expect(outcome(await record(body))).toEqual(invalid(message));
    expect(await totalOf(app)).toBe(total);
  });

  it('answers a repeated batch with a key by the first answer', async () => {
    const [logs, key] = [newLogs(3), { 'idempotency-key': randomUUID() }];
    const first = await record({ timeLogs: logs }, key);
    const again = await record({ timeLogs: logs }, key);
    expect(outcome(first)).toEqual(recorded(logs));
    expect([first, again].map(({ headers }) => headers.get('idempotency-replayed'))).toEqual([null, 'true']);
    expect([again.status, again.text]).toEqual([201, first.text]);
    expect(await totalOf(app, `projectId=${logs[0]!.projectId}`)).toBe(3);
    const reused = refusal('IDEMPOTENCY_KEY_REUSED', 'the Idempotency-Key was used with other values');
    expect(outcome(await record({ timeLogs: logs.toReversed() }, key))).toEqual([422, reused]);
  });

  it('parses a batch when its turn comes, after those that are parsed or stored', async () => {
    const runner = app.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query('lock table time_logs in access exclusive mode');
    const stored = [record({ timeLogs: newLogs(2) }), record({ timeLogs: newLogs(2) })];
    await eventually(async () => {
      const [row] = (await runner.query(
        `select count(*)::int as waiting from pg_locks where not granted and relation = 'time_logs'::regclass`,
      )) as [{ waiting: number }];
      expect(row.waiting).toBe(1);
    });
    let isAnswered = false;
    const invalidBatch = record({ timeLogs: [] }).finally(() => (isAnswered = true));
    await get(app, 'x');
    expect(isAnswered).toBe(false);
    await runner.rollbackTransaction();
    await runner.release();
    expect((await Promise.all(stored)).map(({ status }) => status)).toEqual([201, 201]);
    expect(outcome(await invalidBatch)).toEqual(invalid(COUNT));
  });
});
