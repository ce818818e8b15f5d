import { Logger } from '@nestjs/common';
import type { EventSink } from './event-sink.js';

/** Returns the sink for a `nats`, `tls` (NATS), `amqp` or `amqps` URL. Loads only the driver that it needs. */
export async function sinkOf(url: string): Promise<EventSink> {
  const parsed = new URL(url);
  if (parsed.protocol.startsWith('amqp')) {
    const { RabbitMqSink } = await import('./sinks/rabbitmq.sink.js');
    return new RabbitMqSink(parsed);
  }
  const { NatsSink } = await import('./sinks/nats.sink.js');
  const logger = new Logger(NatsSink.name);
  return new NatsSink(parsed, (line) => logger.warn(line));
}
