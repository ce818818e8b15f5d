import { describe, expect, it } from '@jest/globals';
import { validateEventsSecret, webhookKeysOf } from './webhook.js';

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
