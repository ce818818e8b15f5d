import { expect, it } from '@jest/globals';
import { sinkOf } from './sink-of.js';

it.each([
  ['nats://someone:secret@Broker', 'nats://broker:4222'],
  ['amqp://someone:secret@Broker/%6cogs', 'amqp://broker:5672/logs'],
])('names the sink of %s %s', async (url, name) => {
  expect((await sinkOf(url)).name).toBe(name);
});
