import { expect, it } from '@jest/globals';
import { sinkOf } from './sink-of.js';

it.each([
  ['nats://someone:secret@Broker', 'nats://broker:4222'],
  ['amqp://someone:secret@Broker/%6cogs', 'amqp://broker:5672/logs'],
])('names the sink of %s %s', async (url, name) => {
  expect((await sinkOf(url)).name).toBe(name);
});

const FORM =
  'must be nats://HOST:PORT or tls://HOST:PORT or amqp://USER:PASSWORD@HOST:PORT or amqps://USER:PASSWORD@HOST:PORT, with other special characters percent-encoded';

it.each([
  ['amqp://ada:sesame@broker?cafile=/ca.pem', 'must not contain cafile: use amqps://'],
  ['nats://ada:sesame@broker?tls=true', 'must not contain tls: use tls:// or amqps://'],
  ['tls://broker?cafile=/nowhere', 'must have the path of a readable PEM file in cafile'],
  ['nats+tls://ada:sesame@broker', FORM],
  ['ssl://broker', FORM],
  ['http://broker', FORM],
  ['tcp://127.0.0.1:4000', FORM],
  ['broker', FORM],
])('refuses %s as the service does', async (url, message) => {
  await expect(sinkOf(url)).rejects.toThrow(new Error(`events: the URL of the broker ${message}`));
});
