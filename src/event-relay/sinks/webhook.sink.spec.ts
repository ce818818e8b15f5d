import { expect, it } from '@jest/globals';
import { delayOf, WebhookSink } from './webhook.sink.js';

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
