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
  const record = (from: RelayHost) => from.timeLogs.record({ ...WORK, projectId: randomUUID() });
  const arrived = (count: number) =>
    eventually(async () => {
      const deliveries = await eventsOfStream(broker.url);
      expect(deliveries).toHaveLength(count);
      return deliveries;
    });
  const withStreams = async <T>(act: (streams: StreamAPI) => Promise<T>): Promise<T> => {
    const connection = await connect({ servers: broker.url.slice('nats://'.length) });
    try {
      return await act((await jetstreamManager(connection)).streams);
    } finally {
      await connection.close();
    }
  };
  const configOf = async () => (await withStreams((streams) => streams.info('time-logs'))).config;

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
    await withStreams((streams) => streams.add({ ...stream, ...narrow }));
    const from = await start();
    const { id, projectId } = await record(from);
    await arrived(1);
    await from.timeLogs.correct(id, { ...WORK, projectId, description: 'x'.repeat(3_000) });
    await logged(from, expect.stringMatching(line));
    await withStreams((streams) => streams.update('time-logs', { ...stream, ...wide }));
    expect((await arrived(2)).map(({ event }) => event.data)).toMatchObject([{ id }, { id }]);
    await logged(from, expect.any(String), `events go to ${broker.url} again`);
  });
});
