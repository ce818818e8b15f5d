import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { jetstreamManager, type StreamAPI } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { sinkOf } from '../../../src/event-relay/index.js';
import { eventually } from '../../support/eventually.js';
import { type Broker, startNats } from './brokers.js';
import { describeWith } from '../describe-with.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { eventsOfStream, expectEventsOfOneLog, logged, WORK } from './consumers.js';
import { BrokerProxy } from '../faults/support/broker-proxy.js';
import { migrateForRelay, type RelayHost, startRelayHost } from '../../events/relay-host.js';

const KEEPS_ALL = {
  subjects: ['time-log.*'],
  storage: 'file',
  retention: 'limits',
  discard: 'new',
  max_msgs: -1,
  max_bytes: -1,
  max_age: 0,
  max_msgs_per_subject: -1,
  max_msg_size: -1,
};

const ONE_SUBJECT = { name: 'time-logs', subjects: ['time-log.created'], discard: 'new' as const };

describeWith('nats-server')('the events in NATS JetStream', () => {
  let database: TestDatabase;
  let folder: string;
  let broker: Broker;
  let host: RelayHost | undefined;
  beforeEach(async () => {
    database = await createTestDatabase();
    await migrateForRelay(database.url);
    folder = await mkdtemp(join(tmpdir(), 'streams-'));
    broker = await startNats(undefined, folder);
  });
  afterEach(async () => {
    await host?.close();
    await broker.stop();
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  });

  const start = async () => (host = await startRelayHost(database.url, await sinkOf(broker.url)));
  const record = (from: RelayHost, description = WORK.description) =>
    from.timeLogs.record({ ...WORK, projectId: randomUUID(), description });
  const arrived = (count: number) =>
    eventually(async () => {
      const deliveries = await eventsOfStream(broker.url);
      expect(deliveries).toHaveLength(count);
      return deliveries;
    });
  const idsOf = (logs: readonly { id: string }[]) => logs.map(({ id }) => id).sort();
  const idsInStream = async () => idsOf((await eventsOfStream(broker.url)).map(({ event }) => event.data));
  const withStreams = async <T>(act: (streams: StreamAPI) => Promise<T>): Promise<T> => {
    const connection = await connect({ servers: broker.url.slice('nats://'.length) });
    try {
      return await act((await jetstreamManager(connection)).streams);
    } finally {
      await connection.close();
    }
  };
  const configOf = async () => (await withStreams((streams) => streams.info('time-logs'))).config;
  const line = (text: string) => text.replace('BROKER', broker.url);

  it('arrive in a stream that is made and keeps everything, each with its type as the subject', async () => {
    await expectEventsOfOneLog(await start(), arrived);
    expect(await configOf()).toMatchObject(KEEPS_ALL);
    const { state } = await withStreams((streams) => streams.info('time-logs', { subjects_filter: '>' }));
    expect(state.subjects).toEqual({
      'time-log.created': 1,
      'time-log.corrected': 1,
      'time-log.deleted': 1,
    });
  });

  it('wait for a stream that takes the old subject alone, which is said with the missing one', async () => {
    await withStreams((streams) => streams.add(ONE_SUBJECT));
    const from = await start();
    const { id, projectId } = await record(from);
    await arrived(1);
    await from.timeLogs.correct(id, { ...WORK, projectId, duration: 2 });
    await logged(
      from,
      line(
        'events wait for BROKER: JetStream does not answer, or no stream time-logs accepts time-log.corrected: start nats-server with -js, and check its streams',
      ),
    );
    await withStreams((streams) => streams.update('time-logs', { ...ONE_SUBJECT, subjects: ['time-log.*'] }));
    await arrived(2);
    await logged(from, expect.any(String), line('events go to BROKER again'));
  });

  it('leave a stream as it is, with a warning where it discards', async () => {
    const mine = { subjects: ['time-log.*'], discard: 'old' as const, max_msgs: 2 };
    await withStreams((streams) => streams.add({ name: 'time-logs', ...mine }));
    const from = await start();
    for (let i = 0; i < 5; i++) await record(from);
    await eventually(async () => {
      const { state } = await withStreams((streams) => streams.info('time-logs'));
      expect(state).toMatchObject({ last_seq: 5, messages: 2 });
    });
    expect(await configOf()).toMatchObject(mine);
    expect(from.lines).toEqual([
      'the stream time-logs may lose events: its storage, retention, max_age, or its limits with discard: old; it is not changed',
    ]);
  });

  it('wait for a stream that is full until it has room', async () => {
    const mine = { ...ONE_SUBJECT, max_msgs: 2 };
    await withStreams((streams) => streams.add(mine));
    const from = await start();
    const logs = [];
    for (let i = 0; i < 5; i++) logs.push(await record(from));
    await logged(
      from,
      line(
        'events wait for BROKER: the stream time-logs is full (maximum messages exceeded): give it more room',
      ),
    );
    await withStreams((streams) => streams.update('time-logs', { ...mine, max_msgs: 10 }));
    await arrived(5);
    expect(await idsInStream()).toEqual(idsOf(logs));
    await logged(from, expect.any(String), line('events go to BROKER again'));
  });

  it('wait for one that is too large for the stream, which is named with what to do', async () => {
    await withStreams((streams) => streams.add({ ...ONE_SUBJECT, max_msg_size: 2_000 }));
    const from = await start();
    const logs = [await record(from)];
    await arrived(1);
    logs.push(await record(from, 'x'.repeat(3_000)));
    await eventually(() => expect(from.lines).toHaveLength(1));
    logs.push(await record(from));
    const waits = `^events wait for BROKER: the event \\d+-${logs[1]!.id} is too large for NATS \\(message size exceeds maximum allowed\\): raise max_msg_size of the stream time-logs, or max_payload of the server$`;
    await logged(from, expect.stringMatching(line(waits)));
    await withStreams((streams) => streams.update('time-logs', { ...ONE_SUBJECT, max_msg_size: -1 }));
    await arrived(3);
    expect(await idsInStream()).toEqual(idsOf(logs));
    await logged(from, expect.any(String), line('events go to BROKER again'));
  });

  it('wait for a broker that is away at the start and later, with one line each way', async () => {
    const port = Number(new URL(broker.url).port);
    await broker.stop();
    const from = await start();
    await record(from);
    await logged(
      from,
      expect.stringMatching(line('^events wait for BROKER: NATS is out of reach or refuses ')),
    );
    broker = await startNats(port, folder);
    await arrived(1);
    await logged(from, expect.any(String), line('events go to BROKER again'));
    await broker.stop();
    await record(from);
    await eventually(() => expect(from.lines).toHaveLength(3));
    broker = await startNats(port, folder);
    await arrived(2);
    await eventually(() => expect(from.lines).toHaveLength(4));
  });

  it('leave no connection behind where the relay ends before the broker answers', async () => {
    const proxy = await BrokerProxy.before(broker.url);
    try {
      const gate = proxy.hold();
      const sink = await sinkOf(proxy.url(broker.url));
      const refused = expect(sink.connect()).rejects.toThrow('the connection is no longer needed');
      await eventually(() => expect(proxy.connections).toBe(1));
      await sink.close();
      gate.open();
      await refused;
      await eventually(() => expect(proxy.connections).toBe(0));
    } finally {
      await proxy.takeAway();
    }
  });
});
