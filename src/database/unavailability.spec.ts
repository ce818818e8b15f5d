import { describe, expect, it } from '@jest/globals';
import { QueryFailedError } from 'typeorm';
import { isUnavailability } from './unavailability.js';

/** An error of the server, as pg reports it. */
const fromServer = (code?: unknown) => Object.assign(new Error('text'), { severity: 'ERROR', code });
/** An error of a socket or the pool. */
const withCode = (code?: unknown) => Object.assign(new Error('text'), code === undefined ? {} : { code });
const asQueryFailure = (error: Error) => new QueryFailedError('select 1', [], error);

describe('isUnavailability', () => {
  it.each([
    ['connection exception', '08000'],
    ['connection does not exist', '08003'],
    ['connection failure', '08006'],
    ['read-only transaction', '25006'],
    ['invalid password', '28P01'],
    ['database does not exist', '3D000'],
    ['serialization failure', '40001'],
    ['deadlock', '40P01'],
    ['disk full', '53100'],
    ['too many connections', '53300'],
    ['lock not available', '55P03'],
    ['statement timeout', '57014'],
    ['admin shutdown', '57P01'],
    ['crash shutdown', '57P02'],
    ['cannot connect now', '57P03'],
    ['idle session timeout', '57P05'],
    ['I/O error', '58030'],
  ])('is true for %s (%s)', (_what, code) => {
    expect(isUnavailability(asQueryFailure(fromServer(code)))).toBe(true);
    expect(isUnavailability(fromServer(code))).toBe(true);
  });

  it.each(['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'EPIPE', 'ENOTFOUND', 'EAI_AGAIN', undefined])(
    'is true for an error of a socket or the pool: %s',
    (code) => {
      expect(isUnavailability(asQueryFailure(withCode(code)))).toBe(true);
      expect(isUnavailability(withCode(code))).toBe(true);
    },
  );

  it.each([
    ['unique violation', '23505'],
    ['check violation', '23514'],
    ['not-null violation', '23502'],
    ['numeric out of range', '22003'],
    ['invalid byte sequence', '22021'],
    ['invalid datetime', '22008'],
    ['insufficient privilege', '42501'],
    ['undefined table', '42P01'],
    ['undefined column', '42703'],
    ['syntax error', '42601'],
    ['transaction aborted', '25P02'],
    ['internal error', 'XX000'],
  ])('is false for %s (%s)', (_what, code) => {
    expect(isUnavailability(asQueryFailure(fromServer(code)))).toBe(false);
  });

  it.each([
    new TypeError('x is not a function'),
    new RangeError('x'),
    'text',
    undefined,
    null,
    { code: '08006' },
  ])('is false for an error of the program: %p', (thrown) => {
    expect(isUnavailability(thrown)).toBe(false);
  });
});
