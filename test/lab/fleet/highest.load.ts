import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { NO_LOGS } from '../bench/data-set.js';
import { drive } from '../bench/drive.js';
import { loadOf } from '../bench/loads.js';
import { sumOf } from '../bench/results.js';
import { median } from '../bench/statistics.js';
import { firstColumn } from '../../support/postgres-cluster.js';
import { describeWith } from '../describe-with.js';
import { PROGRAMS, TOKEN, useFleet } from './fleet.js';

const { MINUTES = '60' } = process.env;
/** At each balancer, half of them with keys; enough that a few more change nothing but how long each waits. */
const CONNECTIONS = 16;

describeWith(...PROGRAMS)('the whole fleet', () => {
  const fleet = useFleet();
  const number = async (sql: string) => Number((await firstColumn(fleet.databaseUrl, `select ${sql}`))[0]);
  const wal = () => number(`pg_current_wal_lsn() - '0/0'`);
  const memory = async () =>
    (await Promise.all(fleet.instances.map((instance) => instance.memory()))).map(Math.round).join(', ');

  it(`keeps every create of ${MINUTES} minutes at the highest load, once`, async () => {
    const orders = ['127.0.0.1', '127.0.0.2'].flatMap((host) =>
      (['create', 'create-keyed'] as const).map((load) => ({
        ...{ port: fleet.ports.requests, over: { host, ca: fleet.ca }, connections: CONNECTIONS },
        ...{ requests: loadOf(load, NO_LOGS).requests(TOKEN), status: 201, seconds: 60, drainSeconds: 60 },
      })),
    );
    const [begun, walBefore, memories] = [performance.now(), await wal(), [await memory()]];
    const outcomes: Awaited<ReturnType<typeof drive>>[] = [];
    for (let minute = 1; minute <= Number(MINUTES); minute++) {
      outcomes.push(...(await Promise.all(orders.map(drive))));
      memories.push(await memory());
      process.stderr.write(`after ${minute} minutes: ${memories.at(-1)} MB\n`);
    }
    const seconds = (performance.now() - begun) / 1_000;
    const sum = (key: 'answered' | 'unfinished') => outcomes.reduce((all, outcome) => all + outcome[key], 0);
    const acknowledged = sum('answered');
    // A create without an answer may be stored a moment later.
    await delay(5_000);
    const stored = await number('count(*) from time_logs');
    const failures = sumOf(outcomes.flatMap((outcome) => Object.entries(outcome.failures)));
    const failed = Object.values(failures).reduce((all, count) => all + count, sum('unfinished'));
    const figures = {
      ...{ acknowledged, stored, failures },
      'acknowledged a second': Math.round(acknowledged / seconds),
      'p50 and p99 of the minutes, ms': (['p50', 'p99'] as const)
        .map((key) => median(outcomes.map((outcome) => outcome[key])))
        .join(', '),
      'WAL a create, bytes': Math.round(((await wal()) - walBefore) / acknowledged),
      'table and indexes a log, bytes': Math.round(
        (await number(`pg_total_relation_size('time_logs')`)) / stored,
      ),
      'memory at the start, after a minute, at the end, MB': [memories[0], memories[1], memories.at(-1)].join(
        '; ',
      ),
    };
    process.stderr.write(`${JSON.stringify(figures, undefined, 2)}\n`);
    expect(Object.keys(failures).filter((failure) => !/^status 503$|^closed$|^E/.test(failure))).toEqual([]);
    expect(stored).toBeGreaterThanOrEqual(acknowledged);
    expect(stored).toBeLessThanOrEqual(acknowledged + failed);
    await fleet.verifyCounts();
  });
});
