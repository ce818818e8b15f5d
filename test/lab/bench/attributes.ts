import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { queryOnce } from '../../support/postgres-cluster.js';
import { environment } from '../../support/environment.js';
import { MAIN } from '../../support/service-process.js';
import { runRound } from './compare.js';
import { logsQuery } from './data-set.js';
import { create, list, type Load, totals } from './loads.js';
import type { Round } from './results.js';
import { optionsOf, withBench } from './side-by-side.js';
import { median } from './statistics.js';

// Measures filters by attributes and their indexes. Usage: npm run bench -- attributes [ROUNDS] [SECONDS] [LOGS]

const { rounds = 5, seconds = 3 } = optionsOf(process.argv.slice(2));
const LOGS = Number(process.argv[4] ?? 1_000_000);
const PEOPLE = 1_000;
const COLUMNS = 'id, project_id, duration, description, date';
/** One of the persons, each of whom has about as many logs. */
const PERSON = `hashtext(id::text) & 2147483647) % ${PEOPLE}`;
const OF_PERSON = { 'attributes.a1': '7' };
const READS: Readonly<Record<string, Load>> = {
  'first page': list(OF_PERSON),
  'count and sum': totals(OF_PERSON),
  'sums of a month by day': totals({ ...OF_PERSON, from: '2020-03-01', to: '2020-03-31', by: 'day' }),
};

const namesOf = (count: number) => Array.from({ length: count }, (_, index) => `a${index + 1}`);
const createWith = (count: number) =>
  create([], (index) =>
    Object.fromEntries(namesOf(count).map((name, place) => [name, `${(index * (place + 1)) % PEOPLE}`])),
  );

const folder = await mkdtemp(join(tmpdir(), 'time-logs-attributes-'));
await withBench(async (bench) => {
  /** Starts the service with a number of attributes, all of them filters, on a database with or without logs. */
  const start = async (count: number, logs: number) => {
    const url = await bench.createDatabase(`attributes_${count}_${logs}`);
    if (logs > 0)
      await queryOnce(
        url,
        `insert into time_logs (${COLUMNS}, attributes)
         select ${COLUMNS}, jsonb_build_object('a1', ((${PERSON})::text)
           from (${logsQuery(logs).replace('$1', '1').replace('$2', String(logs))}) logs`,
      );
    const properties = Object.fromEntries(
      namesOf(count).map((name) => [name, { type: 'string', 'x-filter': true }]),
    );
    const file = join(folder, `${count}.json`);
    await writeFile(file, JSON.stringify({ type: 'object', additionalProperties: false, properties }));
    const env = { ATTRIBUTES_SCHEMA: file };
    const migrate = join(dirname(MAIN), 'commands', 'migrate.command.js');
    execFileSync(process.execPath, [migrate], { env: environment({ DATABASE_URL: url, ...env }) });
    await queryOnce(url, 'vacuum analyze');
    return bench.start(url, env);
  };
  const reader = await start(1, LOGS);
  const loads = Object.entries(READS).map(([name, load]) => ({ name, load, program: reader }));
  for (const count of [0, 1, 8]) {
    const name = `create with ${count} attributes`;
    loads.push({ name, load: createWith(count), program: await start(count, 0) });
  }
  const found = new Map<string, Round[]>(loads.map(({ name }) => [name, []]));
  const options = { connections: 16, rounds, seconds };
  for (let round = 0; round < rounds; round++)
    for (const { name, load, program } of loads)
      found.get(name)!.push(await runRound({ ...bench, options }, load, program));
  console.log('| load | requests/s | p50 ms | p99 ms | PostgreSQL CPU µs |\n|---|---|---|---|---|');
  for (const [name, measured] of found) {
    const figures = (['perSecond', 'p50', 'p99', 'databaseCpu'] as const).map((figure) =>
      median(measured.map((round) => round[figure] ?? NaN)).toFixed(figure === 'perSecond' ? 0 : 2),
    );
    console.log(`| ${[name, ...figures].join(' | ')} |`);
    const failures = measured.flatMap((round) => Object.keys(round.failures));
    if (failures.length > 0) throw new Error(`${name}: ${failures.join(', ')}`);
  }
}).finally(() => rm(folder, { recursive: true }));
