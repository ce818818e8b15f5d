import { expect, it } from '@jest/globals';
import { openPlace, sealPlace } from './place-token.js';

const LOG_ID = '019c1363-4a3b-7245-b697-5dec9f548a52';
const place = { mark: '7', position: '9223372036854775807', logId: LOG_ID };

it('hides a place from those without the key', () => {
  const token = sealPlace('key', place);
  expect(token).toMatch(/^[\w-]{64}$/);
  expect(sealPlace('key', place)).toBe(token);
  expect(openPlace('key', token)).toEqual(place);
  expect(openPlace('another key', token)).toBeUndefined();
  for (const index of [0, 30, 63]) {
    const other = token[index] === 'A' ? 'B' : 'A';
    expect(openPlace('key', token.slice(0, index) + other + token.slice(index + 1))).toBeUndefined();
  }
  const bytes = Buffer.from(token, 'base64url').toString('hex');
  for (const part of LOG_ID.split('-').slice(0, 2)) expect(bytes).not.toContain(part);
  const next = sealPlace('key', { ...place, logId: LOG_ID.replace(/2$/, '3') });
  expect(next.slice(24, 34)).not.toBe(token.slice(24, 34));
});
