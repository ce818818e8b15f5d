import { setTimeout as delay } from 'node:timers/promises';
import { removeLibpqVariables } from '../../../src/config.js';
import { audit } from '../faults/support/audit.js';
import { eventually } from '../eventually.js';
import { Ledger } from '../faults/support/ledger.js';
import { PostgresCluster } from '../../support/postgres-cluster.js';
import { startService } from '../../support/service-process.js';
import { isSettled, lookAt, textOf } from './holdings.js';
import { Load } from './load.js';

const USAGE = 'Usage: npm run suite -- soak [MINUTES]   (30; at least 3)';
const TOKEN = 'a-token-that-the-deployment-declares';
const MINUTE = 60_000;
/** Minutes of load before anything is compared: compiled code and caches are there then. */
const WARM_UP = 2;
/** Milliseconds of rest before a look: the pool closes its idle connections after 10 s. */
const REST = 15_000;
/** Milliseconds between two faults, and those for which the database is away. */
const FAULTS = { every: 20_000, outage: 1_000 };
/** Creates whose clients go away at the same time. */
const CROWD = 100;

removeLibpqVariables(process.env);
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());

try {
  const [text = '30', ...rest] = process.argv.slice(2);
  if (!/^\d{1,4}$/.test(text) || Number(text) <= WARM_UP || rest.length > 0) throw new Error(USAGE);
  if (!(await soak(Number(text)))) process.exitCode = 1;
} catch (error) {
  process.exitCode = 1;
  console.error(
    stop.signal.aborted ? 'stopped before its end' : error instanceof Error ? error.message : error,
  );
}

/**
 * Loads the service for so many minutes; true where it ends as it was after the warm-up, and nothing was lost on the
 * way.
 */
async function soak(minutes: number): Promise<boolean> {
  const postgres = await PostgresCluster.create();
  try {
    const url = await postgres.createDatabase();
    const service = await startService({
      DATABASE_URL: url,
      ACCESS_TOKEN: TOKEN,
      // The young generation of npm start.
      NODE_OPTIONS: '--max-semi-space-size=16',
    });
    try {
      const ledger = new Ledger();
      const load = new Load({ port: service.port, token: TOKEN, ledger });
      const look = () => eventually(() => lookAt(service.child.pid!, url));
      let faults = 0;
      const during = async (from: number, to: number) => {
        load.start();
        const faulting = new AbortController();
        const signal = AbortSignal.any([faulting.signal, stop.signal]);
        const done = injectFaults(postgres, load, () => faults++, signal);
        try {
          for (let minute = from; minute <= to; minute++) {
            await delay(MINUTE, undefined, { signal: stop.signal });
            const told = `${ledger.acknowledged.size} acknowledged, ${load.others} other requests, ${faults} faults`;
            console.log(`minute ${minute}: ${told}, ${textOf(await look())}`);
          }
        } finally {
          faulting.abort();
          await done;
          await load.stop();
        }
        await delay(REST, undefined, { signal: stop.signal });
        return look();
      };
      const before = await during(1, WARM_UP);
      console.log(`at rest after the warm-up: ${textOf(before)}`);
      const after = await during(WARM_UP + 1, minutes);

      const isUp = service.child.exitCode === null && service.child.signalCode === null;
      const { lost, doubled, strange } = await audit(url, ledger);
      const unexpected = [...load.unexpected, ...ledger.unexpected];
      for (const line of [...lost, ...doubled, ...strange, ...unexpected].slice(0, 20)) console.error(line);
      const isFlat = isUp && isSettled(before, after);
      console.log(
        `soaked for ${minutes} minutes with ${faults} faults: ${ledger.acknowledged.size} acknowledged, ` +
          `${lost.length} lost, ${doubled.length} doubled, ${strange.length} strange, ` +
          `${ledger.count('refused')} answered 503, ${load.others} other requests, ` +
          `${unexpected.length} unexpected answers; at rest ${textOf(before)} before, ${textOf(after)} after: ` +
          (isFlat ? 'flat' : 'NOT FLAT'),
      );
      return isFlat && lost.length + doubled.length + strange.length + unexpected.length === 0;
    } finally {
      await service.end('SIGKILL');
    }
  } finally {
    await postgres.remove();
  }
}

/** One fault after the other until the signal, and each to its end. */
async function injectFaults(
  postgres: PostgresCluster,
  load: Load,
  count: () => void,
  signal: AbortSignal,
): Promise<void> {
  const outage = (how: 'SIGINT' | 'SIGQUIT') => async () => {
    await postgres.end(how);
    await delay(FAULTS.outage);
    await postgres.start();
  };
  const faults = [
    async () => {
      const [backend] = await postgres.query<{ pid: number }>(
        `select pid from pg_stat_activity where application_name = 'time-logs' order by state_change desc limit 1`,
      );
      process.kill(backend!.pid, 'SIGKILL');
      await eventually(() => postgres.query('select 1'));
    },
    outage('SIGINT'),
    () => Promise.all(Array.from({ length: CROWD }, () => load.abort())),
    outage('SIGQUIT'),
  ];
  for (let number = 0; ; number++) {
    await delay(FAULTS.every, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    await faults[number % faults.length]!();
    count();
  }
}
