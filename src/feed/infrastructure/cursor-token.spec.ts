import { expect, it } from '@jest/globals';
import { openCursor, sealCursor } from './cursor-token.js';

const LOG_ID = '019c1363-4a3b-7245-b697-5dec9f548a52';
const cursor = { mark: '7', position: '9223372036854775807', logId: LOG_ID };

it('hides a cursor from those without the key', () => {
  const token = sealCursor('key', cursor);
  expect(token).toMatch(/^[\w-]{64}$/);
  expect(sealCursor('key', cursor)).toBe(token);
  expect(openCursor('key', token)).toEqual(cursor);
  expect(openCursor('another key', token)).toBeUndefined();
  for (const index of [0, 30, 63]) {
    const other = token[index] === 'A' ? 'B' : 'A';
    expect(openCursor('key', token.slice(0, index) + other + token.slice(index + 1))).toBeUndefined();
  }
  const bytes = Buffer.from(token, 'base64url').toString('hex');
  for (const part of LOG_ID.split('-').slice(0, 2)) expect(bytes).not.toContain(part);
  const next = sealCursor('key', { ...cursor, logId: LOG_ID.replace(/2$/, '3') });
  expect(next.slice(24, 34)).not.toBe(token.slice(24, 34));
});
