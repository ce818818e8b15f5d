import { jetstream, jetstreamManager, type StreamAPI } from '@nats-io/jetstream';
import { connect as connectNats, type NatsConnection } from '@nats-io/transport-node';
import { type Channel, connect as connectRabbit, type ConsumeMessage } from 'amqplib';
import type { CloudEvent } from '../../../src/feed/index.js';

/** An event as a broker hands it over. */
export interface Delivery {
  /** As the broker's own fields have it. */
  readonly id: string | undefined;
  readonly contentType: string | undefined;
  readonly event: CloudEvent;
}

async function withNats<T>(url: string, act: (connection: NatsConnection) => Promise<T>): Promise<T> {
  const connection = await connectNats({ servers: url.slice('nats://'.length) });
  try {
    return await act(connection);
  } finally {
    await connection.close();
  }
}

/** Does something with the streams of a NATS server. */
export function withStreams<T>(url: string, act: (streams: StreamAPI) => Promise<T>): Promise<T> {
  return withNats(url, async (connection) => act((await jetstreamManager(connection)).streams));
}

/** Every event that a stream keeps, in its order. */
export function eventsOfStream(url: string): Promise<Delivery[]> {
  return withNats(url, async (connection) => {
    const deliveries: Delivery[] = [];
    const { streams } = await jetstreamManager(connection);
    const { state } = await streams.info('time-logs');
    if (state.messages === 0) return deliveries;
    const consumer = await jetstream(connection).consumers.get('time-logs');
    for await (const message of await consumer.consume()) {
      const { headers } = message;
      deliveries.push({
        id: headers?.get('Nats-Msg-Id'),
        contentType: headers?.get('content-type'),
        event: message.json<CloudEvent>(),
      });
      if (message.seq === state.last_seq) break;
    }
    return deliveries;
  });
}

/** Does something on a channel of its own to RabbitMQ. */
export async function withChannel(url: string, act: (channel: Channel) => Promise<unknown>): Promise<void> {
  const connection = await connectRabbit(url);
  try {
    const channel = await connection.createChannel();
    await act(channel);
    // The broker has taken all acknowledgements when it answers. The end of a connection may overtake them.
    await channel.close();
  } finally {
    await connection.close();
  }
}

/** A durable queue of RabbitMQ for the events, which keeps them until they are asked for. */
export class EventQueue {
  private readonly deliveries: Delivery[] = [];

  constructor(
    private readonly url: string,
    private readonly queue = 'events',
  ) {}

  bind(key = 'time-log.*'): Promise<void> {
    return withChannel(this.url, async (channel) => {
      await channel.assertExchange('time-logs', 'topic', { durable: true });
      await channel.assertQueue(this.queue, { durable: true });
      await channel.bindQueue(this.queue, 'time-logs', key);
    });
  }

  unbind(): Promise<void> {
    return withChannel(this.url, (channel) => channel.unbindQueue(this.queue, 'time-logs', 'time-log.*'));
  }

  /** All events that have ever arrived, in their order. */
  async events(): Promise<readonly Delivery[]> {
    await withChannel(this.url, async (channel) => {
      const { messageCount } = await channel.checkQueue(this.queue);
      const whole = this.deliveries.length + messageCount;
      if (messageCount === 0) return;
      await new Promise<void>((resolve) => {
        const take = ({ properties, content }: ConsumeMessage) => {
          const { messageId, contentType } = properties as { messageId: string; contentType: string };
          const event = JSON.parse(content.toString()) as CloudEvent;
          this.deliveries.push({ id: messageId, contentType, event });
          if (this.deliveries.length === whole) resolve();
        };
        // Further messages go back to the queue.
        void channel.consume(this.queue, (message) => {
          if (this.deliveries.length === whole) return;
          take(message!);
          channel.ack(message!);
        });
      });
    });
    return this.deliveries;
  }
}
