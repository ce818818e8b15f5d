import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { DataSource } from 'typeorm';
import { SchemaAttributeRules } from '../../../src/attributes/schema-attribute-rules.js';
import { Database } from '../../../src/database/index.js';
import { connectionOptions } from '../../../src/database/setup/data-source.js';
import { removeLibpqVariables } from '../../../src/process/config.js';
import {
  PageRequest,
  Period,
  timeLogEntities,
  TypeOrmTimeLogRepository,
} from '../../../src/time-log/index.js';
import { TypeOrmTotalsRepository } from '../../../src/totals/infrastructure/typeorm-totals.repository.js';
import { connected, PostgresCluster } from '../../support/postgres-cluster.js';
import { MAIN } from '../../support/service-process.js';
import { storeToken } from '../tokens.js';
import { logsQuery } from './data-set.js';
import { create } from './loads.js';
import { Program } from './program.js';
import { medianOf, type Round, runRound } from './round.js';
import { migrate } from './seed.js';

/*
 * Measures filters by attributes against the indexes of version 0.3 in the same database, and what attributes cost a
 * create. Usage: npm run bench -- attributes [ROUNDS] [SECONDS] [LOGS]
 */

const [rounds = 5, seconds = 3, logs = 1_000_000] = process.argv.slice(2).map(Number);
const COLUMNS = 'id, project_id, duration, description, date';
/** A tenth of the logs are of one person, the others of a thousand. */
const PERSON = `case when hashtext(id::text) % 10 = 0 then 'busy' else (hashint4(hashtext(id::text)) & 2147483647) % 1000 || '' end`;
/** The expression that 0.3 indexed, with date and id. */
const VALUE_OF_0_3 = `(case when octet_length(attributes ->> 'person') <= 1020 then attributes -> 'person' end)`;
const MONTH = Period.of('2020-03-01', '2020-03-31');
const PAGE = PageRequest.of(1, 50);
/** With the time that each may take over that with the index of 0.3. */
const READS: readonly (readonly [what: string, person: string, period: Period, most: number])[] = [
  ['of a person with 900 logs', '7', Period.of(), 1],
  ['of a person with 100,000 logs', 'busy', Period.of(), 1],
  ['of a month of a person with 100,000 logs', 'busy', MONTH, 5],
];

removeLibpqVariables(process.env);
const folder = await mkdtemp(join(tmpdir(), 'time-logs-attributes-'));
const server = await PostgresCluster.create();
try {
  await measureReads();
  await measureCreates();
} finally {
  await server.remove();
  await rm(folder, { recursive: true, force: true });
}

async function createDatabase(): Promise<string> {
  const url = await server.createDatabase();
  migrate(url, dirname(MAIN));
  return url;
}

async function measureReads(): Promise<void> {
  const url = await createDatabase();
  await seedReads(url);
  const options = connectionOptions(url, timeLogEntities, { poolSize: 1, deadline: 60_000 });
  const dataSource = await new DataSource(options).initialize();
  const validate = (value: unknown) => ({ value });
  const rules = new SchemaAttributeRules({ '~standard': { version: 1, vendor: 'bench', validate } });
  const [ours, before] = [0, 1].map(
    () => new TypeOrmTimeLogRepository(new Database(dataSource), undefined, rules),
  );
  readByIndexOf03(before!);
  console.log(`| ${logs} logs | ms | ms with 0.3's index | × | at most |\n|---|---|---|---|---|`);
  for (const [what, person, period, most] of READS) {
    const filter = { period, attributes: { person } };
    await compare(`page ${what}`, most, [ours!, before!], (logs) => logs.find(filter, PAGE, {}));
    const grouping = period === MONTH ? 'day' : undefined;
    await compare(`totals ${what}`, most, [ours!, before!], (logs) =>
      new TypeOrmTotalsRepository(logs).totals(filter, grouping, PAGE, {}),
    );
  }
  await dataSource.destroy();
}

async function seedReads(url: string): Promise<void> {
  const client = await connected(url);
  await client.query(
    `insert into time_logs (${COLUMNS}, attributes)
     select ${COLUMNS}, jsonb_build_object('person', ${PERSON}, 'billable', true)
       from (${logsQuery(logs).replace('$1', '1').replace('$2', String(logs))}) logs`,
  );
  await client.query(`create index on time_logs (${VALUE_OF_0_3}, date, id)`);
  await client.query('vacuum analyze');
  await client.end();
}

/** Makes the same statements read by the index of 0.3. */
function readByIndexOf03({ costlyReads }: TypeOrmTimeLogRepository): void {
  const query = costlyReads.query.bind(costlyReads);
  costlyReads.query = (callerId, matching, sqlFor) => {
    const condition = matching.condition.replace(
      'log.attributes @> $1::jsonb',
      `${VALUE_OF_0_3} = ($1::jsonb -> 'person')`,
    );
    return query(callerId, { ...matching, condition, byDate: undefined }, sqlFor);
  };
}

async function compare(
  name: string,
  most: number,
  repositories: readonly TypeOrmTimeLogRepository[],
  read: (logs: TypeOrmTimeLogRepository) => Promise<object>,
): Promise<void> {
  const times: number[][] = [[], []];
  const answers: object[] = [];
  for (let round = 0; round < 4 * rounds; round++)
    for (const [index, repository] of repositories.entries()) {
      const begun = performance.now();
      answers[index] = await read(repository);
      times[index]!.push(performance.now() - begun);
    }
  if (!isDeepStrictEqual(answers[0], answers[1])) throw new Error(`${name}: the answers differ`);
  const [ours, before] = times.map((all) => all.sort((one, other) => one - other)[all.length >> 1]!);
  printRow(name, ours!, before!, most);
}

/** Prints two measurements, their ratio, and the most that it may be. */
function printRow(name: string, ours: number, other: number, most: number): void {
  const figures = [ours, other, ours / other].map((figure) => figure.toFixed(2));
  console.log(`| ${[name, ...figures, most].join(' | ')} |`);
}

async function measureCreates(): Promise<void> {
  const databaseUrl = await createDatabase();
  const file = join(folder, 'schema.json');
  const properties = { person: { type: 'string' }, team: { type: 'string' }, billable: { type: 'boolean' } };
  await writeFile(file, JSON.stringify({ type: 'object', additionalProperties: false, properties }));
  const [token, logFile] = [await storeToken(databaseUrl), join(folder, 'log')];
  const env = { ATTRIBUTES_SCHEMA: file };
  const program = await Program.start({ name: 'service', databaseUrl, token, logFile, env });
  try {
    const loads = [
      create([], (index) => ({ person: `${index % 1_000}`, team: `${index % 20}`, billable: index % 3 > 0 })),
      create(),
    ];
    const found: Round[][] = [[], []];
    // The first round does not count: code is compiled.
    for (let round = 0; round <= rounds; round++)
      for (const [index, load] of loads.entries()) {
        const measured = await runRound(server, seconds, load, program);
        if (round > 0) found[index]!.push(measured);
      }
    console.log('\n| creates | with three attributes | without | × | at most |\n|---|---|---|---|---|');
    for (const [name, figure] of [
      ['p50, ms', 'p50'],
      ['CPU of Node, µs', 'cpu'],
      ['CPU of PostgreSQL, µs', 'databaseCpu'],
    ] as const) {
      const [three, none] = found.map((all) => medianOf(all, figure));
      printRow(name, three!, none!, 1.15);
    }
    const failures = found.flat().flatMap((one) => Object.keys(one.failures));
    if (failures.length > 0) throw new Error(failures.join(', '));
  } finally {
    await program.stop();
  }
}
