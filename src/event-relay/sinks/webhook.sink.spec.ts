import { expect, it } from '@jest/globals';
import { delayOf, signaturesOf, WebhookSink } from './webhook.sink.js';

it('signs as the example of Standard Webhooks, with each key', () => {
  const key = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64');
  const content = 'msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{"test": 2432232314}';
  const signature = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';
  expect(signaturesOf([key], content)).toBe(signature);
  expect(signaturesOf([Buffer.alloc(24), key], content)).toMatch(/^v1,\S{44} v1,g0hM9SsE[^ ]+=$/);
});

it.each([
  [undefined, undefined],
  ['', undefined],
  ['soon', undefined],
  ['0', 0],
  ['120', 120_000],
  ['Thu, 01 Jan 1970 00:00:10 GMT', 9_000],
  ['Thu, 01 Jan 1970 00:00:00 GMT', -1_000],
])('returns the delay of Retry-After: %s', (value, delay) => {
  expect(delayOf(value, 1_000)).toBe(delay);
});

it('tries an event again after 1 s, and after 5 minutes at the latest', () => {
  const sink = new WebhookSink(new URL('https://receiver.example'), [], () => undefined);
  expect(sink.retryDelays).toMatchObject({ first: 1_000, longest: 300_000 });
});
