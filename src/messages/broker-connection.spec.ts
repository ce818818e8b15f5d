import { expect, it } from '@jest/globals';
import { brokerName, describeConnection, natsOptionsOf } from './broker-connection.js';

it.each([
  ['nats://127.0.0.1', 'nats://127.0.0.1:4222'],
  ['nats://someone:secret@Broker:4222', 'nats://broker:4222'],
  ['nats://[::1]/ignored', 'nats://[::1]:4222'],
  ['amqp://broker', 'amqp://broker:5672'],
  ['amqp://broker/', 'amqp://broker:5672'],
  ['amqp://someone:secret@Broker:5672/%2f', 'amqp://broker:5672'],
  ['amqp://broker/logs', 'amqp://broker:5672/logs'],
  ['amqp://broker/%6cogs', 'amqp://broker:5672/logs'],
  ['tls://someone:secret@Broker?cafile=x', 'nats://broker:4222'],
  ['amqps://someone:secret@Broker/%6cogs?cafile=x', 'amqps://broker:5671/logs'],
  ['tcp://0.0.0.0:4000', 'tcp://0.0.0.0:4000'],
  ['https://Hooks.example', 'https://hooks.example:443/#8a5edab28263'],
  ['https://hooks.example:8443/path?token=secret', 'https://hooks.example:8443/#b27a4846d467'],
  ['http://localhost/path', 'http://localhost:80/#379c9f23425a'],
])('returns the canonical name of %s: %s', (url, name) => {
  expect(brokerName(new URL(url))).toBe(name);
});

it.each([
  [undefined, 'events: none (EVENTS_URL)'],
  ['amqp://ada:secret@Broker/logs', 'events: amqp://broker:5672/logs'],
])('describes the connection to %s without the password', (url, text) => {
  expect(describeConnection('events', 'EVENTS_URL', url)).toBe(text);
});

it.each([
  ['nats://broker', { servers: ['broker:4222'] }],
  ['nats://ada:s%40@broker:1', { servers: ['broker:1'], user: 'ada', pass: 's@' }],
  ['nats://secret@broker', { servers: ['broker:4222'], token: 'secret' }],
  ['nats://[::1]?cafile=x', { servers: ['[::1]:4222'], tls: { host: '::1', servername: '', caFile: 'x' } }],
  ['tls://broker', { servers: ['broker:4222'], tls: { host: 'broker', servername: 'broker' } }],
])('connects a NATS client to %s', (url, options) => {
  expect(natsOptionsOf(new URL(url))).toMatchObject(options);
});
