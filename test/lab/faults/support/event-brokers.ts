import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstreamManager, type StreamAPI } from '@nats-io/jetstream';
import { connect as connectNats } from '@nats-io/transport-node';
import { connect as connectRabbit } from 'amqplib';
import { type Delivery, EventQueue, eventsOfStream } from '../../brokers/consumers.js';
import { type Broker, startNats, startRabbit } from '../../brokers/brokers.js';

/** A broker as the faults need it. */
export interface EventBroker {
  readonly url: string;
  /** Makes a place for the events, empty and with room. It keeps repeats, too. */
  prepare(): Promise<void>;
  /** Every event that has come since, in order. */
  events(): Promise<readonly Delivery[]>;
  /** Has it take no more events, by its own rules. */
  fill(): Promise<void>;
  makeRoom(): Promise<void>;
  stop(): Promise<void>;
}

export async function natsForEvents(): Promise<EventBroker> {
  const folder = await mkdtemp(join(tmpdir(), 'streams-'));
  const broker = await startNats(undefined, folder);
  const withStreams = async (act: (streams: StreamAPI) => Promise<unknown>) => {
    const connection = await connectNats({ servers: broker.url.slice('nats://'.length) });
    await act((await jetstreamManager(connection)).streams).finally(() => connection.close());
  };
  const shape = {
    name: 'time-logs',
    subjects: ['time-log.*'],
    discard: 'new' as const,
    // In nanoseconds, the least that there is: repeats must be seen.
    duplicate_window: 100_000_000,
  };
  return {
    url: broker.url,
    prepare: () =>
      withStreams(async (streams) => {
        await streams.delete('time-logs').catch(() => undefined);
        await streams.add(shape);
      }),
    events: () => eventsOfStream(broker.url),
    fill: () =>
      withStreams(async (streams) => {
        const { state } = await streams.info('time-logs');
        // With less room the server would remove what is there.
        await streams.update('time-logs', { ...shape, max_msgs: state.messages + 50 });
      }),
    makeRoom: () => withStreams((streams) => streams.update('time-logs', { ...shape, max_msgs: -1 })),
    stop: async () => {
      await broker.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export async function rabbitForEvents(): Promise<EventBroker> {
  const broker: Broker = await startRabbit();
  let queue = new EventQueue(broker.url);
  return {
    url: broker.url,
    prepare: async () => {
      const connection = await connectRabbit(broker.url);
      const channel = await connection.createChannel();
      await channel.deleteQueue('events');
      await connection.close();
      queue = new EventQueue(broker.url);
      await queue.bind();
    },
    events: () => queue.events(),
    fill: () => queue.unbind(),
    makeRoom: () => queue.bind(),
    stop: () => broker.stop(),
  };
}
