import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { type ClientProxy, ClientProxyFactory, Transport } from '@nestjs/microservices';
import { percentile } from '../bench/statistics.js';
import { type Broker, startNats, startRabbit } from '../brokers/brokers.js';
import { describeWith } from '../describe-with.js';
import { overTransport } from '../../messages/doors.js';
import { LOG } from '../../support/requests.js';
import { type ServiceProcess, startService } from '../../support/service-process.js';
import { ask } from './support/ask.js';
import { eventually } from '../eventually.js';
import { PostgresCluster } from '../../support/postgres-cluster.js';
import { memoryOf, peakMemoryOf } from './support/process-usage.js';
import { TOKEN } from './support/service-under-writes.js';

const FIXTURE = join(import.meta.dirname, 'support', 'broker-abusers.fixture.mjs');
/** Megabytes that a service may need. */
const MOST_MEMORY = 320;

interface Abuse {
  readonly messages: number;
  readonly megabytes?: number;
  readonly seconds?: number;
}

interface AbusedBroker {
  readonly start: () => Promise<Broker>;
  readonly clientOf: (url: string) => ClientProxy;
  /** What is done, and the errors that come of it. */
  readonly abuses: readonly [Abuse, readonly string[]][];
}

const BROKERS: Readonly<Record<string, AbusedBroker>> = {
  'nats-server': {
    start: startNats,
    clientOf: (url) =>
      ClientProxyFactory.create({ transport: Transport.NATS, options: { servers: [url.slice(7)] } }),
    abuses: [[{ messages: 320_000, seconds: 6 }, ['SERVICE_UNAVAILABLE', 'UNAUTHORIZED']]],
  },
  'rabbitmq-server': {
    start: startRabbit,
    clientOf: (url) =>
      ClientProxyFactory.create({ transport: Transport.RMQ, options: { urls: [url], queue: 'time-logs' } }),
    abuses: [
      [{ messages: 5, megabytes: 42 }, ['PAYLOAD_TOO_LARGE']],
      [{ messages: 25, megabytes: 8 }, ['PAYLOAD_TOO_LARGE']],
    ],
  },
};

for (const [program, { start, clientOf, abuses }] of Object.entries(BROKERS)) {
  describeWith(program)(`a service whose messages come by ${program}, and are sent without a token`, () => {
    let broker: Broker;
    let postgres: PostgresCluster;
    let service: ServiceProcess;
    let client: ClientProxy;
    beforeAll(async () => {
      [broker, postgres] = await Promise.all([start(), PostgresCluster.create()]);
    });
    afterEach(async () => {
      await client.close();
      await service.end('SIGKILL');
    });
    afterAll(async () => {
      await broker.stop();
      await postgres.remove();
    });

    /** The milliseconds that an answer of 200 took. */
    async function served(path: string): Promise<number> {
      const { status, took } = await ask(service.url + path);
      expect(status).toBe(200);
      return took;
    }

    it.each(abuses)(`goes on beside %j, with less than ${MOST_MEMORY} MB`, async (abuse, errors) => {
      service = await startService({
        DATABASE_URL: await postgres.createDatabase(),
        ACCESS_TOKEN: TOKEN,
        MESSAGES_URL: broker.url,
      });
      client = clientOf(broker.url);
      const record = () => overTransport(client).record({ accessToken: TOKEN, timeLog: LOG });
      const recorded = { answer: { success: true } };
      await eventually(async () => expect(await record()).toMatchObject(recorded));
      // Connections of the pool and compiled code are there before anything counts.
      for (let i = 0; i < 50; i++) await served('/health');
      const before = await memoryOf(service.child.pid!);
      const abuser = fork(FIXTURE, [JSON.stringify({ url: broker.url, ...abuse })], { execArgv: [] });
      const exit = once(abuser, 'exit');
      const times: number[] = [];
      let answers: object | undefined;
      abuser.on('message', (message) => (answers = message as object));
      while (abuser.exitCode === null) {
        times.push(await served('/livez'));
        await Promise.race([delay(20), exit]);
      }
      times.sort((one, other) => one - other);
      const peak = await peakMemoryOf(service.child.pid!);
      const [p50, p90] = [0.5, 0.9].map((part) => percentile(times, part).toFixed());
      console.log(
        `${JSON.stringify(abuse)}: livez p50 ${p50}, p90 ${p90}, longest ${times.at(-1)!.toFixed()} ms, ` +
          `${before.toFixed()} to ${peak.toFixed()} MB, ${JSON.stringify(answers)}`,
      );
      expect(Object.keys(answers!).sort()).toEqual(errors);
      expect(peak).toBeLessThan(MOST_MEMORY);
      expect(await record()).toMatchObject(recorded);
      await served('/health');
    });
  });
}
