import { expect, it } from '@jest/globals';
import { sinkOf } from './sink-of.js';

it.each([
  ['nats://127.0.0.1', 'nats://127.0.0.1:4222'],
  ['nats://someone:secret@Broker:4222', 'nats://broker:4222'],
  ['amqp://broker', 'amqp://broker:5672'],
  ['amqp://broker/', 'amqp://broker:5672'],
  ['amqp://someone:secret@Broker:5672/%2f', 'amqp://broker:5672'],
  ['amqp://broker/logs', 'amqp://broker:5672/logs'],
  ['amqp://broker/%6cogs', 'amqp://broker:5672/logs'],
])('notes how far %s got under the one name of this place, %s', async (url, name) => {
  expect((await sinkOf(url)).name).toBe(name);
});
