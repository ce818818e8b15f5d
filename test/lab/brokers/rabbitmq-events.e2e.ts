import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { connect } from 'amqplib';
import { sinkOf } from '../../../src/event-relay/index.js';
import { eventually } from '../../../src/time-log/contract/eventually.js';
import { type Rabbit, startRabbit } from './brokers.js';
import { unusedPort } from '../../support/unused-port.js';
import { describeWith } from '../describe-with.js';
import { expectedLog } from '../../support/expected-logs.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { EventQueue } from './consumers.js';
import { expectNoConnectionLeft } from './early-end.js';
import { migrateForRelay, type RelayHost, startRelayHost } from '../../events/relay-host.js';

/** What is recorded, but for its project. */
const WORK = { duration: 1.5, description: 'Schrieb Prüfungen 😀', date: '2026-01-31' };

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
  const place = () => broker.url.replace('guest:guest@', '');

  it('wait for a queue with one line, and then arrive persistently, each with its id', async () => {
    const from = await start();
    const logs = [await record(from), await record(from)];
    await eventually(() =>
      expect(from.lines).toEqual([
        `events wait for ${place()}: no queue is bound to the exchange time-logs for time-log.created: bind one`,
      ]),
    );
    const queue = new EventQueue(broker.url);
    await queue.bind();
    await eventually(async () => expect(await queue.events()).toHaveLength(2));
    const [delivery] = await queue.events();
    const log = logs.find(({ id }) => id === delivery!.event.data.id)!;
    const time = log.createdAt.toISOString();
    expect(delivery).toEqual({
      id: expect.stringMatching(new RegExp(`^[1-9]\\d*-${log.id}$`)),
      contentType: 'application/cloudevents+json',
      event: {
        specversion: '1.0',
        id: delivery!.id,
        source: '/api/v1/time-logs',
        type: 'time-log.created',
        subject: log.projectId,
        time,
        datacontenttype: 'application/json',
        data: expectedLog({ ...WORK, projectId: log.projectId }, { id: log.id, createdAt: time }),
      },
    });
    await eventually(() => expect(from.lines.slice(1)).toEqual([`events go to ${place()} again`]));
  });

  it('tell what becomes of a log, each with its type as the routing key', async () => {
    const [all, deletions] = [new EventQueue(broker.url), new EventQueue(broker.url, 'deletions')];
    await all.bind();
    await deletions.bind('time-log.deleted');
    const from = await start();
    const { id, projectId } = await record(from);
    await eventually(async () => expect(await all.events()).toHaveLength(1));
    await from.timeLogs.correct(id, { ...WORK, projectId, duration: 2 });
    await eventually(async () => expect(await all.events()).toHaveLength(2));
    await from.timeLogs.delete(id);
    await eventually(async () => expect(await all.events()).toHaveLength(3));
    const told = (await all.events()).map(({ event }) => event);
    expect(told.map(({ type }) => type)).toEqual([
      'time-log.created',
      'time-log.corrected',
      'time-log.deleted',
    ]);
    expect(told[1]).toMatchObject({ data: { id, duration: 2 } });
    expect((await deletions.events()).map(({ event }) => event)).toEqual([told[2]]);
    expect(from.lines).toEqual([]);
  });

  it('wait for a queue that is bound for what is recorded alone, which is said with the missing key', async () => {
    const queue = new EventQueue(broker.url);
    await queue.bind('time-log.created');
    const from = await start();
    const { id } = await record(from);
    await eventually(async () => expect(await queue.events()).toHaveLength(1));
    await from.timeLogs.delete(id);
    await eventually(() =>
      expect(from.lines).toEqual([
        `events wait for ${place()}: no queue is bound to the exchange time-logs for time-log.deleted: bind one`,
      ]),
    );
    await queue.bind();
    await eventually(async () => expect(await queue.events()).toHaveLength(2), 20_000);
  });

  it('go to an exchange that is durable and routes by topic, and leave one of another kind as it is', async () => {
    const queue = new EventQueue(broker.url);
    const from = await start();
    await record(from);
    await eventually(() => expect(from.lines).toHaveLength(1));
    // Throws where the exchange is another.
    await queue.bind();
    await eventually(async () => expect(await queue.events()).toHaveLength(1));
    await from.close();
    host = undefined;
    const connection = await connect(broker.url);
    const channel = await connection.createChannel();
    await channel.deleteExchange('time-logs');
    await channel.assertExchange('time-logs', 'fanout', { durable: false });
    await connection.close();
    const other = await start();
    await eventually(() =>
      expect(other.lines).toEqual([expect.stringMatching(/^events wait for .*PRECONDITION_FAILED/)]),
    );
  });

  it('wait for a broker that has no memory left, which says so', async () => {
    const queue = new EventQueue(broker.url);
    await queue.bind();
    const from = await start();
    await record(from);
    await eventually(async () => expect(await queue.events()).toHaveLength(1));
    await broker.control('set_vm_memory_high_watermark', '0.000001');
    await record(from);
    await eventually(() =>
      expect(from.lines).toEqual([
        `events wait for ${place()}: RabbitMQ takes nothing now (low on memory): see rabbitmqctl status`,
      ]),
    );
    await broker.control('set_vm_memory_high_watermark', '0.4');
    await eventually(() => expect(from.lines.slice(1)).toEqual([`events go to ${place()} again`]));
    const ids = (await queue.events()).map(({ id }) => id);
    expect(new Set(ids).size).toBe(2);
  });

  it('wait for a broker that is away, or refuses, with one line and without the password', async () => {
    const away = await start(`amqp://guest:guest@127.0.0.1:${await unusedPort()}`);
    await record(away);
    await eventually(() =>
      expect(away.lines).toEqual([
        expect.stringMatching(
          /^events wait for amqp:\/\/127.0.0.1:\d+: RabbitMQ is out of reach or refuses \(connect ECONNREFUSED/,
        ),
      ]),
    );
    await away.close();
    const refused = await start(broker.url.replace('guest:guest', 'guest:secret'));
    await eventually(() =>
      expect(refused.lines).toEqual([
        expect.stringMatching(/^events wait for .*ACCESS_REFUSED|ACCESS-REFUSED/),
      ]),
    );
    expect(refused.lines.join()).not.toContain('secret');
  });

  it('leave no connection behind where the relay ends before the broker answers', async () => {
    await expectNoConnectionLeft(broker.url);
  });
});
