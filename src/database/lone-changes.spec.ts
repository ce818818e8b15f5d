import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { QueryFailedError } from 'typeorm';
import { LoneChanges } from './lone-changes.js';

const refused = (code: string, message = 'refused') =>
  new QueryFailedError('', [], Object.assign(new Error(message), { code, severity: 'ERROR' }));
const OF_LEVEL = refused('42704', 'unrecognized configuration parameter "time_logs.read_committed"');

describe('changes that may be sent alone', () => {
  let changes: LoneChanges;
  let said: string[];
  beforeEach(() => {
    changes = new LoneChanges();
    said = [];
    jest.spyOn(Logger.prototype, 'log').mockImplementation((line: unknown) => void said.push(String(line)));
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  /** Sends a change, which fails alone with an error; tells how it came through. */
  const send = (error?: Error, level = 'serializable') =>
    changes.run({
      alone: () => (error ? Promise.reject(error) : Promise.resolve('alone')),
      begun: () => Promise.resolve('begun'),
      level: () => Promise.resolve(level),
    });

  it('are alone as long as none fails for the isolation level', async () => {
    expect([await send(), await send(refused('23505')).catch(() => 'refused'), await send()]).toEqual([
      'alone',
      'refused',
      'alone',
    ]);
    expect(said).toEqual([]);
  });

  it.each([OF_LEVEL, refused('40001'), refused('0A000')])(
    'are all in a transaction where two find out at once by %s, which is said once',
    async (error) => {
      expect(await Promise.all([send(error), send(error)])).toEqual(['begun', 'begun']);
      expect(await send()).toBe('begun');
      expect(said).toEqual([expect.stringContaining('not READ COMMITTED')]);
    },
  );

  it.each(['40001', '0A000'])('leave a %s of another cause to the caller', async (code) => {
    await expect(send(refused(code), 'read committed')).rejects.toMatchObject({ code });
    expect([await send(), said]).toEqual(['alone', []]);
    await expect(send(refused(code))).rejects.toMatchObject({ code });
  });
});
