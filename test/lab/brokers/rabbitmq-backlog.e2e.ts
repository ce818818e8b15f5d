import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { InFlightMessages } from '../../../src/messages/in-flight-messages.js';
import { TimeLogService } from '../../../src/time-log/application/time-log.service.js';
import { itemsOf } from '../../../src/time-log/domain/time-log-item.js';
import { TimeLog } from '../../../src/time-log/index.js';
import { BrokerProxy } from '../faults/support/broker-proxy.js';
import { eventually } from '../../support/eventually.js';
import { TOKEN } from '../faults/support/service-under-writes.js';
import { newGate } from '../../support/gate.js';
import { queryOnce } from '../../support/postgres-cluster.js';
import { LOG } from '../../support/requests.js';
import { type ServiceProcess, startService } from '../../support/service-process.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { type Rabbit, startRabbit } from './brokers.js';
import { describeWith } from '../describe-with.js';
import { type Outcome, outcomeOf } from '../../messages/test-clients.js';
import { startMessageHost } from '../../messages/host.js';
import { closingAfterEach } from './opened.js';

import { type Sender, startSender } from './rabbitmq-sender.js';

/** Class and method of channel.open (AMQP 0-9-1, section 1.5.2.1), as they stand in its frame. */
const CHANNEL_OPEN = Buffer.from([0, 20, 0, 10]);
/** Those of basic.publish (section 1.8.3.7), with which an answer begins. */
const PUBLISH = Buffer.from([0, 60, 0, 40]);
const SUCCESS = { answer: { success: true } };
/** The messages that one process has in progress; others wait. */
const IN_PROGRESS = 400;
const LIST = Buffer.from(
  JSON.stringify({ id: '1', pattern: 'time-log.list.v1', data: { accessToken: 'reader' } }),
);

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
    const opened = closingAfterEach();
    const openProxy = async () => opened(await BrokerProxy.before(broker.url), (proxy) => proxy.takeAway());
    const startHost = async (at = url, limits = {}) => opened(await startMessageHost(at, undefined, limits));

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
      const services: ServiceProcess[] = [];
      beforeEach(async () => {
        database = await createTestDatabase();
      });
      afterEach(async () => {
        for (const service of services.splice(0)) await service.end('SIGKILL');
        await database.drop();
      });

      const start = async (env: Record<string, string> = {}) => {
        const settings = { DATABASE_URL: database.url, ACCESS_TOKEN: TOKEN, MESSAGES_URL: url, ...env };
        const service = await startService(settings);
        services.push(service);
        return service;
      };
      it('are recorded, and HTTP goes on, where connections break before their channel is open', async () => {
        const proxy = await openProxy();
        const cut = proxy.cutAt(CHANNEL_OPEN);
        const service = await start({ MESSAGES_URL: `${proxy.url(broker.url)}/${type}` });
        await eventually(() => expect(cut.count).toBeGreaterThan(1));
        cut.end();
        const outcomes = record(1);
        await eventually(() => expect(outcomes).toMatchObject([SUCCESS]));
        expect((await fetch(`${service.url}/livez`)).status).toBe(200);
      });

      it('are all recorded, although they are many more than may wait for a commit', async () => {
        const outcomes = record(2_500);
        await eventually(async () => expect(await sender.left()).toBe(2_500));
        await start();
        await eventually(() => expect(outcomes).toHaveLength(2_500));
        for (const outcome of outcomes) expect(outcome).toMatchObject(SUCCESS);
        const sql = 'select count(*)::int as logs, count(distinct description)::int as once from time_logs';
        expect(await queryOnce(database.url, sql)).toEqual([{ logs: 2_500, once: 2_500 }]);
      });
    });

    describe('for a host', () => {
      /** Starts a host whose records wait for a gate, and sends it 100 messages more than it begins. */
      async function hold(at = url) {
        const host = await startHost(at, { deadline: 600_000 });
        const service = host.app.get(TimeLogService);
        const recordNow = service.record.bind(service);
        const gate = newGate();
        // A host that ends waits for what is under way.
        opened(gate, () => gate.open());
        const spy = jest.spyOn(service, 'record').mockImplementation(async (...args) => {
          await gate.opened;
          return recordNow(...args);
        });
        const outcomes = record(IN_PROGRESS + 100, 'worker');
        await eventually(() => expect(spy).toHaveBeenCalledTimes(IN_PROGRESS));
        return { gate, host, outcomes, spy };
      }

      it('go back when it ends, but for those that it has begun, which it answers', async () => {
        const { gate, host, outcomes } = await hold();
        // The first step of a shutdown. The last one, which closes the connection, would bring them back in any case.
        const drained = host.app.get(InFlightMessages).drain();
        await eventually(async () => expect(await sender.left()).toBe(100));
        gate.open();
        await eventually(() => expect(outcomes).toHaveLength(IN_PROGRESS));
        await drained;
        await host.close();
        await startHost();
        await eventually(() => expect(outcomes).toHaveLength(IN_PROGRESS + 100));
        for (const outcome of outcomes) expect(outcome).toMatchObject(SUCCESS);
      });

      it('go back where its connection is lost, and are recorded once', async () => {
        const proxy = await openProxy();
        const { gate, outcomes, spy } = await hold(`${proxy.url(broker.url)}/${type}`);
        await proxy.takeAway();
        await eventually(async () => expect(await sender.left()).toBe(100));
        gate.open();
        await proxy.restore();
        await eventually(() => expect(outcomes).toHaveLength(IN_PROGRESS + 100));
        for (const outcome of outcomes) expect(outcome).toMatchObject(SUCCESS);
        expect(spy).toHaveBeenCalledTimes(IN_PROGRESS + 100);
      });

      it('are answered over the next connection where one is lost with the answer', async () => {
        const proxy = await openProxy();
        const { gate, outcomes, spy } = await hold(`${proxy.url(broker.url)}/${type}`);
        const cut = proxy.cutAt(PUBLISH, 1);
        gate.open();
        await eventually(() => expect(outcomes).toHaveLength(IN_PROGRESS + 100));
        expect(cut.count).toBe(1);
        for (const outcome of outcomes) expect(outcome).toMatchObject(SUCCESS);
        expect(spy).toHaveBeenCalledTimes(IN_PROGRESS + 100);
      });

      it('are refused where the answer is more than RabbitMQ 4 takes, and the next one is answered', async () => {
        const host = await startHost();
        const log = TimeLog.record(
          { ...LOG, description: 'x'.repeat(5_000) },
          '019c1370-4e1b-7000-8000-000000000001',
        );
        const list = { items: itemsOf(Array<TimeLog>(4_000).fill(log)), total: 4_000 };
        const spy = jest.spyOn(host.app.get(TimeLogService), 'items').mockResolvedValueOnce(list);
        expect(outcomeOf(await sender.ask(LIST))).toMatchObject({ error: { error: 'PAYLOAD_TOO_LARGE' } });
        expect(spy).toHaveBeenCalledTimes(1);
        expect(outcomeOf(await sender.ask(LIST))).toMatchObject(SUCCESS);
      });
    });
  });
});
