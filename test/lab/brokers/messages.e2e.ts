import { once } from 'node:events';
import { setImmediate as immediate, setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ClientProxy, ClientProxyFactory, Transport } from '@nestjs/microservices';
import { TimeLogMessageClient } from '../../../libs/time-log-client/src/messages.js';
import { startMessageHost, waitForLine } from '../../messages/host.js';
import { describeMessages } from '../../messages/messages.contract.js';
import { type Outcome, overHttp, overTransport } from '../../messages/test-clients.js';
import { useTestDatabase } from '../../support/fixtures.js';
import { queryOnce } from '../../support/postgres-cluster.js';
import { LOG } from '../../support/requests.js';
import { type ServiceProcess, startService } from '../../support/service-process.js';
import { createTestDatabase } from '../../support/test-database.js';
import { unusedPort } from '../../support/unused-port.js';
import { describeWith } from '../describe-with.js';
import { type Broker, startNats, startRabbit } from './brokers.js';
import { closingAfterEach } from './opened.js';

const accessToken = 'a-declared-token-of-32-characters';
/** Senders that wait for one answer before they send again. */
const SENDERS = 20;
const KILLS = 3;

/** A broker, as services and clients find it. */
interface Kind {
  readonly name: string;
  start(port?: number): Promise<Broker>;
  /** The URL for services, with a user where the broker lets nobody else in. */
  url(port: number, user?: string): string;
  clientOf(url: string): ClientProxy;
  readonly refusal: RegExp;
}

const KINDS: Readonly<Record<string, Kind>> = {
  'nats-server': {
    name: 'NATS',
    start: (port) => startNats(port, ['--user', 'guest', '--pass', 'guest']),
    url: (port, user = 'guest:guest') => `nats://${user}@127.0.0.1:${port}`,
    clientOf: (url) => {
      const { host: server, username: user, password: pass } = new URL(url);
      return ClientProxyFactory.create({
        transport: Transport.NATS,
        options: { servers: [server], user, pass },
      });
    },
    refusal: /Authorization Violation/,
  },
  'rabbitmq-server': {
    name: 'RabbitMQ',
    start: startRabbit,
    url: (port, user = 'guest:guest') => `amqp://${user}@127.0.0.1:${port}`,
    clientOf: (url) =>
      ClientProxyFactory.create({ transport: Transport.RMQ, options: { urls: [url], queue: 'time-logs' } }),
    refusal: /ACCESS.REFUSED/,
  },
};

for (const [program, kind] of Object.entries(KINDS)) {
  describeWith(program)(`with ${kind.name}`, () => {
    let broker: Broker;
    let url: string;
    beforeAll(async () => {
      const port = await unusedPort();
      url = kind.url(port);
      broker = await kind.start(port);
    });
    afterAll(() => broker.stop());
    const opened = closingAfterEach();

    describeMessages(kind.name, async () => {
      const host = await startMessageHost(url);
      await waitForLine(host, /^messages: connected to/);
      const proxy = kind.clientOf(url);
      return {
        testClient: overTransport(proxy),
        proxy,
        close: async () => {
          await proxy.close();
          await host.close();
        },
      };
    });

    it('a broker that lets nobody in is an error with its own words, and without the password', async () => {
      const port = Number(new URL(url).port);
      const host = opened(await startMessageHost(kind.url(port, 'guest:wrong')));
      await waitForLine(host, /./);
      expect(host.lines).toEqual([expect.stringMatching(kind.refusal)]);
      expect(host.lines[0]).toMatch(/^error: messages: \S+ is out of reach \(.*\); HTTP is not affected$/);
      expect(host.lines[0]).not.toContain('wrong');
    });

    describe('services', () => {
      const database = useTestDatabase(createTestDatabase);

      const start = async (): Promise<ServiceProcess> => {
        const service = await startService({
          DATABASE_URL: database.url,
          ACCESS_TOKEN: accessToken,
          MESSAGES_URL: url,
          NODE_ENV: 'production',
          LOG_LEVEL: 'debug',
        });
        while (!service.output().includes('messages: connected to'))
          await once(service.child.stdout!, 'data');
        return service;
      };
      const stored = async () => {
        const [counts] = await queryOnce<{ logs: number; once: number }>(
          database.url,
          'select count(*)::int as logs, count(distinct description)::int as once from time_logs',
        );
        await queryOnce(database.url, 'truncate time_logs, time_log_keys');
        return counts!;
      };
      const messagesOf = (service: ServiceProcess) => service.output().match(/"msg":"message"/g)?.length ?? 0;

      it('answer every message while one of them is ended', async () => {
        const services = [await start(), await start()] as const;
        const client = kind.clientOf(url);
        const testClient = overTransport(client);
        const outcomes: Outcome[] = [];
        let isOver = false;
        const senders = Array.from({ length: SENDERS }, async () => {
          while (!isOver) {
            outcomes.push(await testClient.record({ accessToken, timeLog: LOG }));
            // A client without a connection fails at once, and must get a turn to see that.
            await immediate();
          }
        });
        while (outcomes.length < 500) await delay(10);
        expect(await services[0].end()).toBe(0);
        await delay(200);
        isOver = true;
        await Promise.all(senders);
        await client.close();
        const answers = outcomes.filter((outcome) => 'answer' in outcome).length;
        const kinds = new Set(outcomes.map(kindOf));
        kinds.delete('SERVICE_UNAVAILABLE');
        expect([...kinds]).toEqual(['answer']);
        for (const service of services) expect(messagesOf(service)).toBeGreaterThan(100);
        await services[1].end();
        expect((await stored()).logs).toBe(answers);
      });

      it(`record each log once while one of them is killed, ${KILLS} times`, async () => {
        let service = await start();
        const proxy = kind.clientOf(url);
        const patience = { timeout: 1_000, tries: 1_000, deadline: 600_000 };
        const client = new TimeLogMessageClient({ proxy, token: accessToken, ...patience });
        let recorded = 0;
        let isOver = false;
        const senders = Array.from({ length: SENDERS }, async (_sender, sender) => {
          for (let count = 0; !isOver; count++) {
            await client.record({ ...LOG, description: `${sender} ${count}` });
            recorded++;
          }
        });
        for (let kill = 1; kill <= KILLS; kill++) {
          const goal = recorded + 200;
          while (recorded < goal) await Promise.race([delay(5), Promise.all(senders)]);
          await service.end('SIGKILL');
          service = await start();
        }
        isOver = true;
        await Promise.all(senders);
        await proxy.close();
        await service.end();
        expect(await stored()).toEqual({ logs: recorded, once: recorded });
      });
    });

    it('a broker that is away is waited for at the start and later, with a line when it goes and when it returns', async () => {
      const port = await unusedPort();
      const away = kind.url(port);
      const host = opened(await startMessageHost(away));
      const lines = [
        /^error: messages: \S+ is out of reach \(.*\); HTTP is not affected$/,
        /^messages: connected/,
      ];
      await waitForLine(host, lines[0]!);
      expect(await overHttp(host.port).list({ accessToken: 'reader' })).toMatchObject({ answer: {} });
      const first = opened(await kind.start(port), (one) => one.stop());
      await waitForLine(host, lines[1]!);
      await first.stop();
      await waitForLine(host, lines[0]!, 2);
      opened(await kind.start(port), (one) => one.stop());
      await waitForLine(host, lines[1]!, 2);
      const client = opened(kind.clientOf(away));
      expect(await overTransport(client).record({ accessToken: 'worker', timeLog: LOG })).toMatchObject({
        answer: { success: true },
      });
      expect(host.lines).toEqual([...lines, ...lines].map((line) => expect.stringMatching(line)));
    });
  });
}

/** The outcome of a message, in a word. */
function kindOf(outcome: Outcome): string {
  if ('answer' in outcome) return 'answer';
  const { error, message } = outcome.error as { error?: string; message?: string };
  return error ?? String(message);
}
