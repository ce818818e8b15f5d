import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { removeLibpqVariables } from '../../../src/process/config.js';
import { connected } from '../../support/postgres-cluster.js';
import { MAIN } from '../../support/service-process.js';
import { storeToken } from '../tokens.js';
import { logsQuery } from './data-set.js';
import { Driver } from './driver.js';
import { create } from './loads.js';
import { Program } from './program.js';
import { medianOf, type Round, runRound } from './round.js';
import { migrate } from './seed.js';
import { Server } from './server.js';

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
const MONTH = `and log.date between '2020-03-01' and '2020-03-31'`;

/** The statements of the service for the logs of a condition. */
const page = (condition: string) =>
  `with matching as materialized (select id, date from time_logs log where ${condition})
   select log.id, project_id, duration, description, total
     from (select count(*) as total from matching) whole
     left join (select id, date from matching order by date desc, id desc limit 50) page on true
     join time_logs log on log.id = page.id order by page.date desc, page.id desc`;
const sums = (condition: string, group = 'null::date') =>
  `with sums as materialized (
     select ${group} as first_day, count(*) as n, sum(duration) as duration
       from time_logs log where ${condition} group by 1)
   select * from sums order by first_day desc`;
/** With the time that each may take over that with the index of 0.3. */
const READS: readonly (readonly [
  name: string,
  person: string,
  most: number,
  sql: (condition: string) => string,
])[] = [
  ['page of a person with 900 logs', '7', 1, page],
  ['totals of a person with 900 logs', '7', 1, sums],
  ['page of a person with 100,000 logs', 'busy', 1, page],
  ['totals of a person with 100,000 logs', 'busy', 1, sums],
  [
    'a month of a person with 100,000 logs, by day',
    'busy',
    5,
    (condition) => sums(`${condition} ${MONTH}`, 'date'),
  ],
];

removeLibpqVariables(process.env);
const folder = await mkdtemp(join(tmpdir(), 'time-logs-attributes-'));
const server = await Server.open(folder);
try {
  await measureReads();
  await measureCreates();
} finally {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}

async function createDatabase(name: string): Promise<string> {
  const url = await server.create(`bench_${name}`);
  migrate(url, dirname(MAIN));
  return url;
}

async function measureReads(): Promise<void> {
  const client = await connected(await createDatabase('reads'));
  await client.query(
    `insert into time_logs (${COLUMNS}, attributes)
     select ${COLUMNS}, jsonb_build_object('person', ${PERSON}, 'billable', true)
       from (${logsQuery(logs).replace('$1', '1').replace('$2', String(logs))}) logs`,
  );
  await client.query(`create index on time_logs (${VALUE_OF_0_3}, date, id)`);
  await client.query('vacuum analyze');
  console.log(`| ${logs} logs | ms | ms with 0.3's index | × | at most |\n|---|---|---|---|---|`);
  for (const [name, person, most, sql] of READS) {
    const value = JSON.stringify(person);
    const conditions = [
      `log.attributes @> '{"person":${value}}'::jsonb`,
      `${VALUE_OF_0_3} = '${value}'::jsonb`,
    ];
    const times: number[][] = [[], []];
    const answers: unknown[] = [];
    for (let round = 0; round < 4 * rounds; round++)
      for (const [index, condition] of conditions.entries()) {
        const begun = performance.now();
        answers[index] = (await client.query(sql(condition))).rows;
        times[index]!.push(performance.now() - begun);
      }
    if (JSON.stringify(answers[0]) !== JSON.stringify(answers[1]))
      throw new Error(`${name}: the answers differ`);
    const [ours, before] = times.map((all) => all.sort((one, other) => one - other)[all.length >> 1]!);
    const figures = [ours!, before!, ours! / before!].map((figure) => figure.toFixed(2));
    console.log(`| ${[name, ...figures, most].join(' | ')} |`);
  }
  await client.end();
}

async function measureCreates(): Promise<void> {
  const databaseUrl = await createDatabase('creates');
  const file = join(folder, 'schema.json');
  const properties = { person: { type: 'string' }, team: { type: 'string' }, billable: { type: 'boolean' } };
  await writeFile(file, JSON.stringify({ type: 'object', additionalProperties: false, properties }));
  const [token, logFile] = [await storeToken(databaseUrl), join(folder, 'log')];
  const program = await Program.start({
    name: 'service',
    databaseUrl,
    token,
    logFile,
    env: { ATTRIBUTES_SCHEMA: file },
  });
  const driver = new Driver();
  try {
    const loads = [
      create([], (index) => ({ person: `${index % 1_000}`, team: `${index % 20}`, billable: index % 3 > 0 })),
      create(),
    ];
    const found: Round[][] = [[], []];
    // The first round does not count: code is compiled.
    for (let round = 0; round <= rounds; round++)
      for (const [index, load] of loads.entries()) {
        const measured = await runRound({ server, driver, seconds }, load, program);
        if (round > 0) found[index]!.push(measured);
      }
    console.log('\n| creates | with three attributes | without | × | at most |\n|---|---|---|---|---|');
    for (const [name, figure] of [
      ['p50, ms', 'p50'],
      ['CPU of Node, µs', 'cpu'],
      ['CPU of PostgreSQL, µs', 'databaseCpu'],
    ] as const) {
      const [three, none] = found.map((all) => medianOf(all, figure));
      console.log(
        `| ${[name, ...[three!, none!, three! / none!].map((value) => value.toFixed(2)), 1.15].join(' | ')} |`,
      );
    }
    const failures = found.flat().flatMap((one) => Object.keys(one.failures));
    if (failures.length > 0) throw new Error(failures.join(', '));
  } finally {
    driver.stop();
    await program.stop();
  }
}
