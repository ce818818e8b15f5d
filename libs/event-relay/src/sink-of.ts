import { Logger } from '@nestjs/common';
import { EVENT_PROTOCOLS, validateBrokerUrl } from '../../strict-url/src/index.js';
import type { EventSink } from './event-sink.js';

/**
 * Returns the sink for a `nats`, `tls` (NATS), `amqp` or `amqps` URL. Loads only the driver that it
 * needs. Throws an Error with a message of one line, without a value, for a URL that is invalid or
 * has a parameter that would be ignored.
 */
export async function sinkOf(url: string): Promise<EventSink> {
  const fault = validateBrokerUrl(url, EVENT_PROTOCOLS);
  if (fault !== undefined) throw new Error(`events: the URL of the broker ${fault}`);
  const parsed = new URL(url);
  if (parsed.protocol.startsWith('amqp')) {
    const { RabbitMqSink } = await import('./sinks/rabbitmq.sink.js');
    return new RabbitMqSink(parsed);
  }
  const { NatsSink } = await import('./sinks/nats.sink.js');
  const logger = new Logger(NatsSink.name);
  return new NatsSink(parsed, (line) => logger.warn(line));
}
