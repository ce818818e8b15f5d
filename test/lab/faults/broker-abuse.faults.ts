import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { type ClientProxy, ClientProxyFactory, Transport } from '@nestjs/microservices';
import { overTransport } from '../../messages/doors.js';
import { LOG } from '../../support/requests.js';
import { type Broker, startNats, startRabbit } from '../brokers/brokers.js';
import { describeWith } from '../describe-with.js';
import { eventually } from '../eventually.js';
import { memoryFromNow, served, startAbusers } from './support/abused-service.js';
import { serve } from './support/serve.js';
import { TOKEN } from './support/service-under-writes.js';
import { useCluster } from './support/use-cluster.js';

/** Megabytes that a service may need. */
const MOST_MEMORY = 320;

interface AbusedBroker {
  readonly start: () => Promise<Broker>;
  readonly clientOf: (url: string) => ClientProxy;
  /** What is done (see the fixture), and the errors that come of it. */
  readonly abuses: readonly [object, readonly string[]][];
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
    const postgres = useCluster();
    let broker: Broker;
    let client: ClientProxy;
    beforeAll(async () => {
      broker = await start();
    });
    afterEach(() => void client.close());
    afterAll(() => broker.stop());

    it.each(abuses)(`goes on beside %j, with less than ${MOST_MEMORY} MB`, async (abuse, errors) => {
      const service = await serve(await postgres.createDatabase(), { MESSAGES_URL: broker.url });
      client = clientOf(broker.url);
      const record = async () => {
        const outcome = await overTransport(client).record({ accessToken: TOKEN, timeLog: LOG });
        expect(outcome).toMatchObject({ answer: { success: true } });
      };
      await eventually(record);
      const memory = await memoryFromNow(service);
      const { child, exit } = startAbusers('broker-abusers.fixture.mjs', { url: broker.url, ...abuse });
      const times: number[] = [];
      let answers: object | undefined;
      child.on('message', (message) => (answers = message as object));
      while (child.exitCode === null) {
        times.push(await served(service, '/livez'));
        await Promise.race([delay(20), exit]);
      }
      const { peak } = await memory(`${JSON.stringify(abuse)}, ${JSON.stringify(answers)}`, times);
      expect(Object.keys(answers!).sort()).toEqual(errors);
      expect(peak).toBeLessThan(MOST_MEMORY);
      await record();
      await served(service, '/health');
    });
  });
}
