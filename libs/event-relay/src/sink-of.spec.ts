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

const FORM =
  'must be nats://HOST:PORT or tls://HOST:PORT or amqp://USER:PASSWORD@HOST:PORT or amqps://USER:PASSWORD@HOST:PORT or https://HOST/PATH or http://localhost:PORT/PATH, with other special characters percent-encoded';

it.each([
  ['amqp://ada:sesame@broker?cafile=/ca.pem', 'must not contain cafile: use amqps://'],
  ['nats://ada:sesame@broker?tls=true', 'must not contain tls: use tls:// or amqps://'],
  ['tls://broker?cafile=/nowhere', 'must have the path of a readable PEM file in cafile'],
  ['nats+tls://ada:sesame@broker', FORM],
  ['ssl://broker', FORM],
  ['http://broker', 'must be https://HOST/PATH: http:// is allowed for loopback only'],
  ['tcp://127.0.0.1:4000', FORM],
  ['broker', FORM],
])('refuses %s as the service does', async (url, message) => {
  await expect(sinkOf(url)).rejects.toThrow(new Error(`events: the URL ${message}`));
});

it.each([
  ['https://hooks.example', undefined, /^events: the secret is missing, /],
  ['https://hooks.example', 'sesame', /^events: the secret must be one or two secrets, /],
  ['nats://broker', SECRET, /^events: the secret needs the URL of a webhook /],
])('refuses %s with the secret %s', async (url, secret, message) => {
  await expect(sinkOf(url, { secret })).rejects.toThrow(message);
});
