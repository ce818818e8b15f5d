import { setTimeout as delay } from 'node:timers/promises';
import type { DataSet } from './data-set.js';
import type { Driver } from './driver.js';
import { loadOf } from './loads.js';
import { measureProcess } from './measure.js';
import type { Program } from './program.js';
import { connect, type Server } from './server.js';
import { withBench } from './side-by-side.js';
import { median } from './statistics.js';

/*
 * What it costs to have EVENTS_URL: `npm run bench -- relay URL` puts creates on two services in turn, one with the
 * broker of the URL and one without, as fast as they can and at a steady pace.
 */

const ROUNDS = 5;
/** Seconds of a round. */
const SECONDS = 5;
const WRITERS = 64;
/** Creates a second of the steady pace, in bursts of a tenth of a second. */
const PACE = 1_000;
const BURST = PACE / 10;

const WITH = 'with events';
const WITHOUT = 'without';

interface Round {
  readonly perSecond: number;
  /** Microseconds of one create. */
  readonly cpu: number;
  readonly databaseCpu: number;
  /** Events that are not noted as published at the end of the round, and seconds until they are. */
  readonly lag: number;
  readonly catchUp: number;
}

interface Service {
  readonly name: string;
  readonly program: Program;
  readonly databaseUrl: string;
  readonly rounds: Record<string, Round[]>;
}

const measure = (url: string) =>
  withBench(async ({ server, driver, start }) => {
    const services: Service[] = [
      { name: WITHOUT, rounds: {}, ...(await start('without')) },
      { name: WITH, rounds: {}, ...(await start('events', { EVENTS_URL: url })) },
    ];
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [load, act] of Object.entries({ fast: atFullSpeed, steady: atSteadyPace })) {
        for (const service of round % 2 === 0 ? services : services.toReversed()) {
          const found = await runRound(server, service, () => act(driver, service.program));
          console.error(`${load}, round ${round}, ${service.name}: ${JSON.stringify(found)}`);
          // The first one warms up.
          if (round > 0) (service.rounds[load] ??= []).push(found);
        }
      }
    }
    report(services);
  });

/** The creates that were answered. */
type Act = (driver: Driver, program: Program) => Promise<number>;

const creates = (token: string) => loadOf('create', { spread: 'usual' } as DataSet).requests(token);

const atFullSpeed: Act = async (driver, { port, token }) => {
  const requests = creates(token);
  const outcome = await driver.run({
    ...{ port, requests, connections: WRITERS, status: 201, seconds: SECONDS, patience: 60 },
  });
  return outcome.answered;
};

/** Bursts of requests, each burst as soon as it is due. */
const atSteadyPace: Act = async (_driver, { port, token }) => {
  const [headers, end] = [
    { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    performance.now() + SECONDS * 1_000,
  ];
  const bodies = creates(token).map((text) => text.slice(text.indexOf('\r\n\r\n') + 4));
  let answered = 0;
  for (let due = performance.now(); due < end; due += 100) {
    await delay(Math.max(0, due - performance.now()));
    const burst = bodies.slice(answered % 1_000, (answered % 1_000) + BURST);
    const url = `http://127.0.0.1:${port}/api/v1/time-logs`;
    const answers = await Promise.all(burst.map((body) => fetch(url, { method: 'POST', headers, body })));
    await Promise.all(answers.map((answer) => answer.arrayBuffer()));
    if (answers.some(({ status }) => status !== 201)) throw new Error('a create failed');
    answered += burst.length;
  }
  return answered;
};

async function runRound(
  server: Server,
  { program, databaseUrl, name }: Service,
  act: () => Promise<number>,
): Promise<Round> {
  const [before, databaseBefore] = [await measureProcess(program.pid), await server.cpu()];
  const begun = performance.now();
  const answered = await act();
  const seconds = (performance.now() - begun) / 1_000;
  const lag = name === WITH ? await lagOf(databaseUrl) : 0;
  const [after, databaseAfter] = [await measureProcess(program.pid), await server.cpu()];
  const rest = performance.now();
  while (name === WITH && (await lagOf(databaseUrl)) > 0) await delay(100);
  const catchUp = (performance.now() - rest) / 1_000;
  return {
    perSecond: answered / seconds,
    cpu: (after!.cpu - before!.cpu) / answered,
    databaseCpu: (databaseAfter! - databaseBefore!) / answered,
    lag,
    catchUp,
  };
}

async function lagOf(databaseUrl: string): Promise<number> {
  const client = await connect(databaseUrl);
  try {
    const { rows } = await client.query<{ lag: string }>(
      `select count(*) as lag from time_logs logs, time_log_relays relay
        where (logs.position, logs.id) > (relay.position, relay.id)`,
    );
    return Number(rows[0]!.lag);
  } finally {
    await client.end();
  }
}

function report(services: readonly Service[]): void {
  console.log(
    '| creates | service | a second | CPU µs | PostgreSQL CPU µs | lag at the end | caught up after |',
  );
  console.log('| --- | --- | --- | --- | --- | --- | --- |');
  for (const load of ['fast', 'steady']) {
    for (const { name, rounds } of services) {
      const of = (field: keyof Round) => median(rounds[load]!.map((round) => round[field]));
      const figures = [of('perSecond'), of('cpu'), of('databaseCpu'), of('lag')].map(Math.round);
      console.log(`| ${[load, name, ...figures, `${of('catchUp').toFixed(1)} s`].join(' | ')} |`);
    }
  }
  const [without, whole] = services.map(({ rounds }) => rounds.fast!);
  // Pair by pair: whatever else the machine does changes from round to round.
  const ratio = median(whole!.map(({ perSecond }, round) => perSecond / without![round]!.perSecond));
  console.log(`\nCreates at full speed with events over those without, pair by pair: ${ratio.toFixed(2)}`);
}

const [brokerUrl] = process.argv.slice(2);
if (brokerUrl === undefined) {
  console.error(
    'Usage: npm run bench -- relay nats://HOST:PORT (or amqp://…, with a queue bound to the exchange)',
  );
  process.exitCode = 1;
} else await measure(brokerUrl);
