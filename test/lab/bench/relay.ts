import { setTimeout as delay } from 'node:timers/promises';
import { firstColumn } from '../../support/postgres-cluster.js';
import type { Target } from './program.js';
import { compareCreates, withBench } from './side-by-side.js';
import { median } from './statistics.js';

// What it costs to have EVENTS_URL: creates on two services in turn, one with the broker of the URL and one without, as
// fast as they can and at a steady pace. Usage: npm run bench -- relay URL

const ROUND = { rounds: 5, seconds: 5 };
/** Creates a second of the steady pace. */
const PACE = 1_000;
const LAG = `select count(*) from time_logs logs, time_log_relays relay
  where (logs.position, logs.id) > (relay.position, relay.id)`;

const [brokerUrl] = process.argv.slice(2);
if (brokerUrl === undefined) {
  console.error(
    'Usage: npm run bench -- relay nats://HOST:PORT (or amqp://…, with a queue bound to the exchange)',
  );
  process.exitCode = 1;
} else
  await withBench(async (bench) => {
    const databaseUrl = await bench.createDatabase('events');
    const relaying = await bench.start(databaseUrl, { EVENTS_URL: brokerUrl });
    const without = await bench.start(await bench.createDatabase('without'));
    const lag = async () => Number((await firstColumn(databaseUrl, LAG))[0]);
    for (const pace of [{}, { perSecond: PACE }]) {
      const [lags, seconds]: number[][] = [[], []];
      const afterRound = async (program: Target) => {
        if (program !== relaying) return;
        lags!.push(await lag());
        const begun = performance.now();
        while ((await lag()) > 0) await delay(100);
        seconds!.push((performance.now() - begun) / 1_000);
      };
      console.log(`\nCreates at ${'perSecond' in pace ? `${PACE} a second` : 'full speed'}:\n`);
      await compareCreates(
        { ...bench, afterRound },
        { 'with events': relaying, without },
        { ...ROUND, ...pace },
      );
      // The first round warms up.
      const [events, caughtUp] = [median(lags!.slice(1)), median(seconds!.slice(1)).toFixed(1)];
      console.log(
        `\nAt the end of a round ${events} events were not published; ${caughtUp} s later all were.`,
      );
    }
  });
