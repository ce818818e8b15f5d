import { Logger } from '@nestjs/common';
import {
  EVENT_PROTOCOLS,
  isWebhook,
  validateBrokerUrl,
  validateEventsSecret,
  webhookKeysOf,
} from '../../libs/strict-url/src/index.js';
import type { EventSink } from './event-sink.js';

interface SinkOptions {
  /** One or two `whsec_…` secrets, separated by a comma, which sign the requests to a webhook. */
  readonly secret?: string | undefined;
}

/**
 * Returns the sink for a `nats`, `tls` (NATS), `amqp` or `amqps` URL, or for the `https` URL of a
 * webhook, which needs a secret. Loads only the driver that it needs. Throws an Error with a message
 * of one line, without a value, for a URL that is invalid or has a parameter that would be ignored.
 */
export async function sinkOf(url: string, { secret }: SinkOptions = {}): Promise<EventSink> {
  const fault = validateBrokerUrl(url, EVENT_PROTOCOLS);
  if (fault !== undefined) throw new Error(`events: the URL ${fault}`);
  const secretFault = validateEventsSecret(url, secret);
  if (secretFault !== undefined) throw new Error(`events: the secret ${secretFault}`);
  const parsed = new URL(url);
  if (isWebhook(url)) {
    const { WebhookSink } = await import('./sinks/webhook.sink.js');
    const logger = new Logger(WebhookSink.name);
    return new WebhookSink(parsed, webhookKeysOf(secret!)!, (line) => logger.error(line));
  }
  if (parsed.protocol.startsWith('amqp')) {
    const { RabbitMqSink } = await import('./sinks/rabbitmq.sink.js');
    return new RabbitMqSink(parsed);
  }
  const { NatsSink } = await import('./sinks/nats.sink.js');
  const logger = new Logger(NatsSink.name);
  return new NatsSink(parsed, (line) => logger.warn(line));
}
