import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { CONTENT_TYPE, EVENTS_NAME } from '../../libs/event-relay/src/sinks/topology.js';
import {
  MESSAGE_QUEUE,
  TimeLogMessagesController,
} from '../../libs/messages/src/time-logs/time-log-messages.controller.js';

const ROOT = join(import.meta.dirname, '..', '..');
const text = readFileSync(join(ROOT, 'src/api-docs/asyncapi.json'), 'utf8');
const { channels } = JSON.parse(text) as {
  readonly channels: Readonly<
    Record<string, { address: string | null; messages: object; bindings?: object }>
  >;
};
/** The addresses of the channels that have a member of the bindings of RabbitMQ. */
const addressesWith = (amqp: object) =>
  Object.values(channels)
    .filter(({ bindings }) => JSON.stringify(bindings) === JSON.stringify({ amqp }))
    .map(({ address }) => address);

it('is what `npm run openapi` makes of the OpenAPI document', () => {
  const made = execFileSync(process.execPath, [join(ROOT, 'libs/build/asyncapi.mjs')], { encoding: 'utf8' });
  expect(text).toBe(made);
});

it('has the patterns, names and types of the code', () => {
  const handlers = Object.values(Object.getOwnPropertyDescriptors(TimeLogMessagesController.prototype));
  const patterns = handlers.flatMap(
    ({ value }) => (Reflect.getMetadata('microservices:pattern', value as object) ?? []) as string[],
  );
  const queue = { name: MESSAGE_QUEUE };
  expect(addressesWith({ is: 'queue', queue }).toSorted()).toEqual(patterns.toSorted());
  const exchange = { name: EVENTS_NAME, type: 'topic', durable: true };
  const types = ['created', 'corrected', 'deleted'].map((change) => `time-log.${change}`);
  expect(addressesWith({ is: 'routingKey', exchange })).toEqual(types);
  for (const message of Object.values(channels.webhook!.messages))
    expect(message).toHaveProperty('contentType', CONTENT_TYPE);
});
