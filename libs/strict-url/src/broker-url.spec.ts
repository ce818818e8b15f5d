import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { BROKER_PROTOCOLS, EVENT_PROTOCOLS, validateBrokerUrl } from './broker-url.js';
import { validateEventsSecret, webhookKeysOf } from './webhook.js';

/** Contains PEM. */
const FILE = encodeURIComponent(join(import.meta.dirname, '../../../test/support/certificates.ts'));
const validate = (url: string) => validateBrokerUrl(url, ['tcp:', ...BROKER_PROTOCOLS]);

it.each([
  ...['tcp://127.0.0.1:4000', 'tcp://[::1]:4000/', 'nats://ada:s%40%2F@broker:4222/', 'nats://token@[::1]'],
  ...[`tls://ada:secret@broker:4222?cafile=${FILE}`, 'amqp://ada:s%23%3F@broker:5672/%2F', 'amqp://broker'],
  ...['AMQPS://broker?channelMax=9&frameMax=4096', `amqps://broker/logs?heartbeat=0&cafile=${FILE}`],
])('accepts %s', (url) => {
  expect(validate(url)).toBeUndefined();
});

const FORM =
  'must be tcp://HOST:PORT or nats://HOST:PORT or tls://HOST:PORT or amqp://USER:PASSWORD@HOST:PORT or amqps://USER:PASSWORD@HOST:PORT, with other special characters percent-encoded';
const AMQP = '(known: heartbeat, channelMax, frameMax)';

it.each([
  ...['broker:4222', 'http://broker', 'nats://', 'tcp://127.0.0.1'].map((url) => [url, FORM]),
  // Drivers would connect to one host with this name, or parse it otherwise.
  ...['nats://a:4222,b:4222', 'amqp://a%2Cb', 'nats://[a]:4222'].map((url) => [url, FORM]),
  // A part of a password that is not encoded would become a host, a path or a parameter.
  ...[
    'nats://ada:1/word@broker',
    'amqp://ada:1?word@broker',
    'amqp://ada:1#word@broker',
    'nats://broker#x',
  ].map((url) => [url, FORM]),
  ...['nats://ada:100%@broker', 'nats://ada:%ff@broker', 'nats://ada:a b@broker'].map((url) => [url, FORM]),
  ['amqps://:secret@broker', FORM],
  ['tcp://ada:secret@127.0.0.1:4000', FORM],
  ['tcp://127.0.0.1:4000/logs', FORM],
  ['tls://broker/logs', FORM],
  ['tcp://127.0.0.1:4000?x=1', 'has an unknown parameter x (known: none)'],
  ['nats://broker?tls=true', 'has an unknown parameter tls (known: cafile)'],
  ['nats://broker?ca_file=x', 'has an unknown parameter ca_file (known: cafile)'],
  ['tls://broker?cafile=/nowhere', 'must have the path of a readable PEM file in cafile'],
  ['tls://broker?cafile=', 'must have a value in cafile, or omit it'],
  [`tls://broker?cafile=${FILE}&cafile=${FILE}`, 'must contain cafile only once'],
  ['tls://broker?heartbeat=5', 'has an unknown parameter heartbeat (known: cafile)'],
  [`amqp://broker?cafile=${FILE}`, `has an unknown parameter cafile ${AMQP}`],
  [
    'amqps://broker?cacertfile=x',
    'has an unknown parameter cacertfile (known: heartbeat, channelMax, frameMax, cafile)',
  ],
  [
    'amqps://broker?channel_max=5',
    'has an unknown parameter channel_max (known: heartbeat, channelMax, frameMax, cafile)',
  ],
  ['amqp://broker?locale=de', `has an unknown parameter locale ${AMQP}`],
  ['amqp://broker?heartbeat=5s', 'must have a whole number from 0 to 65535 in heartbeat'],
  ['amqp://broker?frameMax=1', 'must have a whole number from 4096 to 2147483647 in frameMax'],
])('refuses %s: %s', (url, message) => {
  expect(validate(url)).toBe(message);
});

it('names only the protocols that a setting has', () => {
  expect(validateBrokerUrl('tcp://broker:1', ['nats:', 'amqps:'])).toBe(
    'must be nats://HOST:PORT or amqps://USER:PASSWORD@HOST:PORT, with other special characters percent-encoded',
  );
});

it.each([
  ...['https://hooks.example:8443/a%2Fb/?token=x&y', 'HTTPS://[2001:db8::1]/x+y?+'],
  ...['http://localhost:3001/hook', 'http://127.0.0.1', 'http://[::1]:3001'],
])('accepts the webhook %s', (url) => {
  expect(validateBrokerUrl(url, EVENT_PROTOCOLS)).toBeUndefined();
});

const FORM_OF_EVENTS = FORM.replace('tcp://HOST:PORT or ', '').replace(
  ', with',
  ' or https://HOST/PATH or http://localhost:PORT/PATH, with',
);

it.each([
  // Requests are signed, and only loopback is safe without TLS.
  ...['https://ada@hooks.example', 'http://:sesame@localhost', 'https://ada:1/word@hooks.example'],
  ...['http://10.0.0.1/', 'http://127.example', 'http://localhost.example'],
  ...['https://hooks.example/#x', 'ftp://x'],
])('refuses the webhook %s', (url) => {
  expect(validateBrokerUrl(url, EVENT_PROTOCOLS)).toBe(FORM_OF_EVENTS);
});

const secretOf = (bytes: number) => `whsec_${Buffer.alloc(bytes, 'é').toString('base64')}`;
const [SHORTEST, LONGEST] = [secretOf(24), secretOf(64)];
const ADVICE = 'set it to the output of: echo "whsec_$(openssl rand -base64 32)"';

it('decodes one or two secrets', () => {
  expect(webhookKeysOf('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')).toEqual([
    Buffer.from('31f290f6bf06298aab4f08d43c3f082cf648a362da2da4b0', 'hex'),
  ]);
  expect(webhookKeysOf(` ${SHORTEST} , ${LONGEST} `)).toEqual([Buffer.alloc(24, 'é'), Buffer.alloc(64, 'é')]);
});

describe('the secret of a webhook', () => {
  it.each([
    ['https://hooks.example', SHORTEST],
    ['HTTP://localhost', `${SHORTEST},${LONGEST}`],
    ['nats://broker', undefined],
    [undefined, undefined],
    ['nats://broker', SHORTEST],
  ])('is valid: %s, %s', (url, secret) => {
    expect(validateEventsSecret(url, secret)).toBeUndefined();
  });

  it.each([
    ...['whsec_', SHORTEST.slice(6), secretOf(23), secretOf(65), `${SHORTEST},`, `x${SHORTEST}`],
    ...[`${SHORTEST},${LONGEST},${SHORTEST}`, secretOf(25).replace(/=+$/, ''), `${SHORTEST}!`],
    secretOf(33).replaceAll('+', '-').replaceAll('w6', '_-'),
  ])('is invalid: %s', (secret) => {
    expect(validateEventsSecret('https://hooks.example', secret)).toBe(
      `must be one or two secrets, separated by a comma, of whsec_ and the base64 of 24 to 64 bytes; ${ADVICE}`,
    );
  });

  it.each([['https://hooks.example', undefined, `is missing, and a webhook needs it; ${ADVICE}`]])(
    'is missing: %s, %s',
    (url, secret, message) => {
      expect(validateEventsSecret(url, secret)).toBe(message);
    },
  );
});
