import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect as connectNats } from '@nats-io/transport-node';
import { connect as connectRabbit } from 'amqplib';
import type { CloudEvent } from '../../src/time-log/index.js';

/** An event as a broker hands it over. */
export interface Delivery {
  /** As the broker's own fields have it. */
  readonly id: string | undefined;
  readonly contentType: string | undefined;
  readonly event: CloudEvent;
}

/** Every event that a stream keeps, in its order. */
export async function eventsOfStream(url: string): Promise<Delivery[]> {
  const connection = await connectNats({ servers: url.slice('nats://'.length) });
  try {
    const { streams } = await jetstreamManager(connection);
    const { state } = await streams.info('time-logs');
    const deliveries: Delivery[] = [];
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

  async bind(): Promise<void> {
    await this.with(async (channel) => {
      await channel.assertExchange('time-logs', 'topic', { durable: true });
      await channel.assertQueue(this.queue, { durable: true });
      await channel.bindQueue(this.queue, 'time-logs', 'time-log.created');
    });
  }

  /** All events that have ever arrived, in their order. */
  async events(): Promise<readonly Delivery[]> {
    await this.with(async (channel) => {
      for (;;) {
        const message = await channel.get(this.queue, { noAck: true });
        if (message === false) return;
        const { messageId, contentType } = message.properties as { messageId: string; contentType: string };
        this.deliveries.push({
          id: messageId,
          contentType,
          event: JSON.parse(message.content.toString()) as CloudEvent,
        });
      }
    });
    return this.deliveries;
  }

  private async with(
    act: (
      channel: Awaited<ReturnType<Awaited<ReturnType<typeof connectRabbit>>['createChannel']>>,
    ) => Promise<void>,
  ): Promise<void> {
    const connection = await connectRabbit(this.url);
    try {
      await act(await connection.createChannel());
    } finally {
      await connection.close();
    }
  }
}
