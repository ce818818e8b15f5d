import { once } from 'node:events';
import { setImmediate as immediate, setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ClientProxy } from '@nestjs/microservices';
import { TimeLogMessageClient } from '../../../libs/time-log-client/src/messages.js';
import { queryOnce } from '../../support/postgres-cluster.js';
import { LOG } from '../../support/requests.js';
import { type ServiceProcess, startService } from '../../support/service-process.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { type Outcome, overTransport } from '../../messages/test-clients.js';

/** A transport, as services and clients find it. */
export interface Transported {
  readonly url: string;
  readonly newClient: () => ClientProxy;
}

const accessToken = 'a-declared-token-of-32-characters';
/** Senders that wait for one answer before they send again. */
const SENDERS = 20;
const KILLS = 3;

/** The outcomes of messages if the services that receive them are ended or killed. */
export function describeFaults(name: string, transport: () => Transported): void {
  describe(`services that take messages over ${name}`, () => {
    let database: TestDatabase;
    beforeAll(async () => {
      database = await createTestDatabase();
    });
    afterAll(() => database.drop());

    const start = async (): Promise<ServiceProcess> => {
      const service = await startService({
        DATABASE_URL: database.url,
        ACCESS_TOKEN: accessToken,
        MESSAGES_URL: transport().url,
        NODE_ENV: 'production',
        LOG_LEVEL: 'debug',
      });
      while (!service.output().includes('messages: connected to')) {
        await once(service.child.stdout!, 'data');
      }
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
      const client = transport().newClient();
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
      const proxy = transport().newClient();
      const client = new TimeLogMessageClient({
        proxy,
        token: accessToken,
        timeout: 1_000,
        tries: 1_000,
        deadline: 600_000,
      });
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
}

/** The outcome of a message, in a word. */
function kindOf(outcome: Outcome): string {
  if ('answer' in outcome) return 'answer';
  const { error, message } = outcome.error as { error?: string; message?: string };
  return error ?? String(message);
}
