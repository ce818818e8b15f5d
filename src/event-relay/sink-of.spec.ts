import { expect, it } from '@jest/globals';
import { sinkOf } from './sink-of.js';

const SECRET = `whsec_${Buffer.alloc(24).toString('base64')}`;

it.each([
  ['nats://someone:secret@Broker', undefined, 'nats://broker:4222'],
  ['amqp://someone:secret@Broker/%6cogs', undefined, 'amqp://broker:5672/logs'],
  ['https://Hooks.example/secret?token=secret', SECRET, 'https://hooks.example:443/#6de2d5b174b4'],
])('names the sink of %s %s', async (url, secret, name) => {
  expect((await sinkOf(url, { secret })).name).toBe(name);
});

it.each([
  [
    'amqp://ada:sesame@broker?cafile=/ca.pem',
    'has an unknown parameter cafile (known: heartbeat, channelMax, frameMax)',
  ],
])('refuses %s as the service does', async (url, message) => {
  await expect(sinkOf(url)).rejects.toThrow(new Error(`events: the URL ${message}`));
});

it.each([
  ['https://hooks.example', undefined, /^events: the secret is missing, /],
  ['https://hooks.example', 'sesame', /^events: the secret must be one or two secrets, /],
])('refuses %s with the secret %s', async (url, secret, message) => {
  await expect(sinkOf(url, { secret })).rejects.toThrow(message);
});
