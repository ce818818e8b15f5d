import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { DataSource } from 'typeorm';
import { MessagesUnderWay } from '../../libs/message-edge/src/index.js';
import { TimeLogService } from '../../src/time-log/index.js';
import { BrokerProxy } from '../faults/support/broker-proxy.js';
import { eventually } from '../faults/support/eventually.js';
import { TOKEN } from '../faults/support/service-under-writes.js';
import { newGate } from '../support/gate.js';
import { LOG } from '../support/requests.js';
import { type ServiceProcess, startService } from '../support/service-process.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { type Rabbit, startRabbit } from './brokers.js';
import { describeWith } from './describe-with.js';
import { type Outcome, outcomeOf } from './doors.js';
import { startMessageHost } from './host.js';
import { type Sender, startSender } from './rabbitmq-sender.js';

const SUCCESS = { answer: { success: true } };

describeWith('rabbitmq-server')('messages that wait in RabbitMQ', () => {
  let broker: Rabbit;
  beforeAll(async () => {
    broker = await startRabbit();
  });
  afterAll(() => broker.stop());

  describe.each(['classic', 'quorum'])('in a %s queue', (type) => {
    let url: string;
    let sender: Sender;
    beforeAll(async () => {
      await broker.control('add_vhost', type, '--default-queue-type', type);
      await broker.control('set_permissions', '-p', type, 'guest', '.*', '.*', '.*');
      url = `${broker.url}/${type}`;
    });
    beforeEach(async () => {
      sender = await startSender(url);
    });
    afterEach(() => sender.close());

    /** Sends messages, each with another log. The outcomes come as the answers do. */
    function record(count: number, accessToken = TOKEN): Outcome[] {
      const outcomes: Outcome[] = [];
      for (let number = 0; number < count; number++) {
        const timeLog = { ...LOG, description: `log ${number}` };
        const message = { pattern: 'time-log.record.v1', id: '1', data: { accessToken, timeLog } };
        void sender
          .ask(Buffer.from(JSON.stringify(message)))
          .then((answer) => outcomes.push(outcomeOf(answer)));
      }
      return outcomes;
    }

    describe('for a service', () => {
      let database: TestDatabase;
      let owner: DataSource;
      const services: ServiceProcess[] = [];
      beforeEach(async () => {
        database = await createTestDatabase();
        owner = await new DataSource({ type: 'postgres', url: database.url }).initialize();
      });
      afterEach(async () => {
        for (const service of services.splice(0)) await service.end('SIGKILL');
        await owner.destroy();
        await database.drop();
      });

      const start = async (env: Record<string, string>) => {
        const settings = { DATABASE_URL: database.url, ACCESS_TOKEN: TOKEN, MESSAGES_URL: url, ...env };
        const service = await startService(settings);
        services.push(service);
        return service;
      };
      const stored = async () => {
        const [counts] = await owner.query<{ logs: number; once: number }[]>(
          'select count(*)::int as logs, count(distinct description)::int as once from time_logs',
        );
        return counts!;
      };

      it('are all recorded, although they are many more than may wait for a commit', async () => {
        const outcomes = record(1_000);
        await eventually(async () => expect(await sender.left()).toBe(1_000));
        await start({ WRITE_QUEUE: '20' });
        await eventually(() => expect(outcomes).toHaveLength(1_000));
        for (const outcome of outcomes) expect(outcome).toMatchObject(SUCCESS);
        expect(await stored()).toEqual({ logs: 1_000, once: 1_000 });
      });

      it('are recorded by the next one where one is killed, but for the one that it had begun', async () => {
        const killed = await start({ WRITE_QUEUE: '1', DEADLINE: '5' });
        const lock = owner.createQueryRunner();
        await lock.query('begin; lock table time_logs in access exclusive mode');
        const outcomes = record(100);
        await eventually(async () => {
          const waiting = await owner.query<unknown[]>(
            `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
          );
          expect(waiting).toHaveLength(1);
        });
        await killed.end('SIGKILL');
        await lock.query('commit');
        await lock.release();
        const next = await start({});
        await eventually(() => expect(outcomes).toHaveLength(99));
        await next.end();
        expect(outcomes).toHaveLength(99);
        const { logs, once } = await stored();
        expect(once).toBe(logs);
        expect(logs).toBeGreaterThanOrEqual(outcomes.filter((outcome) => 'answer' in outcome).length);
      });
    });

    describe('for a host', () => {
      /** Starts a host whose records wait for a gate, and sends it 100 messages, the first of which has begun. */
      async function hold(at = url) {
        const host = await startMessageHost(at, undefined, { writeQueue: 1, deadline: 60_000 });
        const service = host.app.get(TimeLogService);
        const recordNow = service.record.bind(service);
        const gate = newGate();
        const spy = jest.spyOn(service, 'record').mockImplementation(async (...args) => {
          await gate.opened;
          return recordNow(...args);
        });
        const outcomes = record(100, 'worker');
        await eventually(() => expect(spy).toHaveBeenCalledTimes(1));
        return { gate, host, outcomes, spy };
      }

      it('go back when it ends, but for the one that it has begun, which it answers', async () => {
        const { gate, host, outcomes } = await hold();
        // The first step of a shutdown. The last one, which closes the connection, would bring them back in any case.
        const drained = host.app.get(MessagesUnderWay).drain();
        await eventually(async () => expect(await sender.left()).toBe(99));
        gate.open();
        await eventually(() => expect(outcomes).toHaveLength(1));
        await drained;
        await host.close();
        const next = await startMessageHost(url);
        await eventually(() => expect(outcomes).toHaveLength(100));
        for (const outcome of outcomes) expect(outcome).toMatchObject(SUCCESS);
        await next.close();
      });

      it('go back where its connection is lost, and are recorded once', async () => {
        const proxy = await BrokerProxy.before(broker.url);
        const { gate, host, outcomes, spy } = await hold(`${proxy.url(broker.url)}/${type}`);
        await proxy.takeAway();
        await eventually(async () => expect(await sender.left()).toBe(99));
        gate.open();
        await proxy.restore();
        await eventually(() => expect(outcomes).toHaveLength(100));
        for (const outcome of outcomes) expect(outcome).toMatchObject(SUCCESS);
        expect(spy).toHaveBeenCalledTimes(100);
        await host.close();
        await proxy.takeAway();
      });

      it.each([
        [2, SUCCESS],
        [3, type === 'quorum' ? { error: { error: 'SERVICE_UNAVAILABLE' } } : SUCCESS],
      ])('are recorded or refused where they were redelivered %d times', async (times, outcome) => {
        const outcomes = record(1, 'worker');
        await sender.putBack(times);
        const host = await startMessageHost(url);
        await eventually(() => expect(outcomes).toMatchObject([outcome]));
        expect(await sender.left()).toBe(0);
        await host.close();
      });
    });
  });
});
