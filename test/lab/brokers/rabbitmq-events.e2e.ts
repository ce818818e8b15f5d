import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { connect } from 'amqplib';
import { sinkOf } from '../../../src/event-relay/index.js';
import { eventually } from '../../support/eventually.js';
import { type Rabbit, startRabbit } from './brokers.js';
import { describeWith } from '../describe-with.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { EventQueue, expectEventsOfOneLog, logged, WORK } from './consumers.js';
import { migrateForRelay, type RelayHost, startRelayHost } from '../../events/relay-host.js';

describeWith('rabbitmq-server')('the events in RabbitMQ', () => {
  let database: TestDatabase;
  let broker: Rabbit;
  let host: RelayHost | undefined;
  beforeAll(async () => {
    broker = await startRabbit();
  });
  afterAll(() => broker.stop());
  beforeEach(async () => {
    database = await createTestDatabase();
    await migrateForRelay(database.url);
    const connection = await connect(broker.url);
    const channel = await connection.createChannel();
    await channel.deleteExchange('time-logs');
    await channel.deleteQueue('events');
    await connection.close();
  });
  afterEach(async () => {
    await host?.close();
    await database.drop();
  });

  const start = async (url = broker.url) => (host = await startRelayHost(database.url, await sinkOf(url)));
  const record = (from: RelayHost) => from.timeLogs.record({ ...WORK, projectId: randomUUID() });
  const arrived = (queue: EventQueue, count: number) =>
    eventually(async () => {
      const deliveries = await queue.events();
      expect(deliveries).toHaveLength(count);
      return deliveries;
    });
  const place = () => broker.url.replace('guest:guest@', '');

  it('arrive, each with its type as the routing key', async () => {
    const [all, deletions] = [new EventQueue(broker.url), new EventQueue(broker.url, 'deletions')];
    await all.bind();
    await deletions.bind('time-log.deleted');
    await expectEventsOfOneLog(await start(), (count) => arrived(all, count));
    const [, , deleted] = await all.events();
    expect((await deletions.events()).map(({ event }) => event)).toEqual([deleted!.event]);
  });

  it('wait for a queue at an exchange that is durable and routes by topic, and leave one of another kind as it is', async () => {
    const queue = new EventQueue(broker.url);
    const from = await start();
    await record(from);
    await logged(
      from,
      `events wait for ${place()}: no queue is bound to the exchange time-logs for time-log.created: bind one`,
    );
    // Throws where the exchange is another.
    await queue.bind();
    await arrived(queue, 1);
    await logged(from, expect.any(String), `events go to ${place()} again`);
    await from.close();
    host = undefined;
    const connection = await connect(broker.url);
    const channel = await connection.createChannel();
    await channel.deleteExchange('time-logs');
    await channel.assertExchange('time-logs', 'fanout', { durable: false });
    await connection.close();
    const other = await start();
    await logged(other, expect.stringMatching(/^events wait for .*PRECONDITION_FAILED/));
  });

  it('wait for a broker that has no memory left, which says so', async () => {
    const queue = new EventQueue(broker.url);
    await queue.bind();
    const from = await start();
    await record(from);
    await arrived(queue, 1);
    await broker.control('set_vm_memory_high_watermark', '0.000001');
    await record(from);
    await logged(
      from,
      `events wait for ${place()}: RabbitMQ takes nothing now (low on memory): see rabbitmqctl status`,
    );
    await broker.control('set_vm_memory_high_watermark', '0.4');
    await logged(from, expect.any(String), `events go to ${place()} again`);
    const ids = (await queue.events()).map(({ id }) => id);
    expect(new Set(ids).size).toBe(2);
  });

  it('wait for a broker that refuses, with one line and without the password', async () => {
    const refused = await start(broker.url.replace('guest:guest', 'guest:secret'));
    await logged(refused, expect.stringMatching(/^events wait for .*ACCESS_REFUSED|ACCESS-REFUSED/));
    expect(refused.lines.join()).not.toContain('secret');
  });
});
