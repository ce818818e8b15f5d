import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { sinkOf } from '../../../src/event-relay/index.js';
import { migrateForRelay, type RelayHost, startRelayHost } from '../../events/relay-host.js';
import { eventually } from '../../support/eventually.js';
import { expectedLog } from '../../support/expected-logs.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { describeWith } from '../describe-with.js';
import { type Broker, type Rabbit, startNats, startRabbit } from './brokers.js';
import { type Delivery, EventQueue, eventsOfStream, withChannel, withStreams } from './consumers.js';

/** The values of a log, except its project. */
const WORK = { duration: 1.5, description: 'Schrieb Prüfungen 😀', date: '2026-01-31' };

let database: TestDatabase;
let host: RelayHost | undefined;
beforeEach(async () => {
  database = await createTestDatabase();
  await migrateForRelay(database.url);
});
afterEach(async () => {
  await host?.close();
  host = undefined;
  await database.drop();
});

const start = async (url: string) => (host = await startRelayHost(database.url, await sinkOf(url)));
const record = () => host!.timeLogs.record({ ...WORK, projectId: randomUUID() });
/** Resolves when the host has logged these lines about its events, and no others. */
const logged = (...lines: unknown[]) => eventually(() => expect(host!.lines).toEqual(lines));
const arrived = (events: () => Promise<readonly Delivery[]>, count: number) =>
  eventually(async () => {
    const deliveries = await events();
    expect(deliveries).toHaveLength(count);
    return deliveries;
  });

/**
 * Records, corrects and deletes a log, each when the event before has come, and expects the three events, the first
 * with all that a broker has of it.
 */
async function expectEventsOfOneLog(events: () => Promise<readonly Delivery[]>): Promise<void> {
  const { timeLogs } = host!;
  const projectId = randomUUID();
  const { id, createdAt } = await timeLogs.record({ ...WORK, projectId });
  const [first] = await arrived(events, 1);
  const time = createdAt.toISOString();
  expect(first).toEqual({
    id: expect.stringMatching(new RegExp(`^[1-9]\\d*-${id}$`)),
    contentType: 'application/cloudevents+json',
    event: {
      specversion: '1.0',
      id: first!.id,
      source: '/api/v1/time-logs',
      type: 'time-log.created',
      subject: projectId,
      time,
      datacontenttype: 'application/json',
      data: expectedLog({ ...WORK, projectId }, { id, createdAt: time }),
    },
  });
  await timeLogs.correct(id, { ...WORK, projectId, duration: 2 });
  await arrived(events, 2);
  await timeLogs.delete(id);
  expect((await arrived(events, 3)).slice(1).map(({ event }) => event)).toMatchObject([
    { type: 'time-log.corrected', data: { id, duration: 2 } },
    { type: 'time-log.deleted', method: 'DELETE', subject: projectId, data: { id, projectId } },
  ]);
  expect(host!.lines).toEqual([]);
}

describeWith('nats-server')('the events in NATS JetStream', () => {
  let broker: Broker;
  beforeEach(async () => {
    broker = await startNats();
  });
  afterEach(() => broker.stop());

  const events = () => eventsOfStream(broker.url);
  const info = () =>
    withStreams(broker.url, (streams) => streams.info('time-logs', { subjects_filter: '>' }));

  it('arrive in a stream that is made and keeps everything, each with its type as the subject', async () => {
    await start(broker.url);
    await expectEventsOfOneLog(events);
    const { config, state } = await info();
    const limits = { max_msgs: -1, max_bytes: -1, max_age: 0, max_msgs_per_subject: -1, max_msg_size: -1 };
    const kept = { subjects: ['time-log.*'], storage: 'file', retention: 'limits', discard: 'new' };
    expect(config).toMatchObject({ ...kept, ...limits });
    expect(state.subjects).toEqual({
      'time-log.created': 1,
      'time-log.corrected': 1,
      'time-log.deleted': 1,
    });
  });

  it('leave a stream as it is, with a warning where it discards', async () => {
    const mine = { subjects: ['time-log.*'], discard: 'old' as const, max_msgs: 2 };
    await withStreams(broker.url, (streams) => streams.add({ name: 'time-logs', ...mine }));
    await start(broker.url);
    for (let i = 0; i < 5; i++) await record();
    await eventually(async () => expect((await info()).state).toMatchObject({ last_seq: 5, messages: 2 }));
    expect((await info()).config).toMatchObject(mine);
    await logged(
      'the stream time-logs may lose events: its storage, retention, max_age, or its limits with discard: old; it is not changed',
    );
  });

  it.each([
    [
      'takes the old subject alone',
      { subjects: ['time-log.created'] },
      { subjects: ['time-log.*'] },
      /^events wait for \S+: JetStream does not answer, or no stream time-logs accepts time-log.corrected: start nats-server with -js, and check its streams$/,
    ],
    [
      'is full',
      { max_msgs: 1 },
      { max_msgs: 10 },
      /^events wait for \S+: the stream time-logs is full \(maximum messages exceeded\): give it more room$/,
    ],
    [
      'has no room for one so large',
      { max_msg_size: 2_000 },
      { max_msg_size: -1 },
      /^events wait for \S+: the event \d+-\S+ is too large for NATS \(message size exceeds maximum allowed\): raise max_msg_size of the stream time-logs, or max_payload of the server$/,
    ],
  ])('wait for a stream that %s, which is said with what to do', async (_what, narrow, wide, line) => {
    const stream = { name: 'time-logs', subjects: ['time-log.*'], discard: 'new' as const };
    await withStreams(broker.url, (streams) => streams.add({ ...stream, ...narrow }));
    await start(broker.url);
    const { id, projectId } = await record();
    await arrived(events, 1);
    await host!.timeLogs.correct(id, { ...WORK, projectId, description: 'x'.repeat(3_000) });
    await logged(expect.stringMatching(line));
    await withStreams(broker.url, (streams) => streams.update('time-logs', { ...stream, ...wide }));
    expect((await arrived(events, 2)).map(({ event }) => event.data)).toMatchObject([{ id }, { id }]);
    await logged(expect.any(String), `events go to ${broker.url} again`);
  });
});

describeWith('rabbitmq-server')('the events in RabbitMQ', () => {
  let broker: Rabbit;
  let queue: EventQueue;
  beforeAll(async () => {
    broker = await startRabbit();
  });
  afterAll(() => broker.stop());

  beforeEach(async () => {
    queue = new EventQueue(broker.url);
    await withChannel(broker.url, async (channel) => {
      await channel.deleteExchange('time-logs');
      await channel.deleteQueue('events');
    });
  });
  const events = () => queue.events();
  const place = () => broker.url.replace('guest:guest@', '');

  it('arrive, each with its type as the routing key', async () => {
    const deletions = new EventQueue(broker.url, 'deletions');
    await queue.bind();
    await deletions.bind('time-log.deleted');
    await start(broker.url);
    await expectEventsOfOneLog(events);
    const [, , deleted] = await events();
    expect((await deletions.events()).map(({ event }) => event)).toEqual([deleted!.event]);
  });

  it('wait for a queue at an exchange that is durable and routes by topic, and leave one of another kind as it is', async () => {
    await start(broker.url);
    await record();
    await logged(
      `events wait for ${place()}: no queue is bound to the exchange time-logs for time-log.created: bind one`,
    );
    // Throws where the exchange is another.
    await queue.bind();
    await arrived(events, 1);
    await logged(expect.any(String), `events go to ${place()} again`);
    await host!.close();
    await withChannel(broker.url, async (channel) => {
      await channel.deleteExchange('time-logs');
      await channel.assertExchange('time-logs', 'fanout', { durable: false });
    });
    await start(broker.url);
    await logged(expect.stringMatching(/^events wait for .*PRECONDITION_FAILED/));
  });

  it('wait for a broker that has no memory left, which says so', async () => {
    await queue.bind();
    await start(broker.url);
    await record();
    await arrived(events, 1);
    await broker.control('set_vm_memory_high_watermark', '0.000001');
    await record();
    await logged(
      `events wait for ${place()}: RabbitMQ takes nothing now (low on memory): see rabbitmqctl status`,
    );
    await broker.control('set_vm_memory_high_watermark', '0.4');
    await logged(expect.any(String), `events go to ${place()} again`);
    const ids = (await events()).map(({ id }) => id);
    expect(new Set(ids).size).toBe(2);
  });

  it('wait for a broker that refuses, with one line and without the password', async () => {
    await start(broker.url.replace('guest:guest', 'guest:secret'));
    await logged(expect.stringMatching(/^events wait for .*ACCESS.REFUSED/));
    expect(host!.lines.join()).not.toContain('secret');
  });
});
