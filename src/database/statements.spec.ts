import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { QueryFailedError, type QueryRunner } from 'typeorm';
import { AutocommitStatement, StatementSender } from './statements.js';

const failure = (code: string, message = 'failed') =>
  new QueryFailedError('', [], Object.assign(new Error(message), { code, severity: 'ERROR' }));
const WRONG_LEVEL = failure('42704', 'unrecognized configuration parameter "time_logs.read_committed"');
const STATEMENT = new AutocommitStatement((condition) =>
  condition === 'true' ? 'in a transaction' : 'autocommit',
);

describe('StatementSender', () => {
  let sender: StatementSender;
  let logged: string[];
  beforeEach(() => {
    sender = new StatementSender();
    logged = [];
    jest.spyOn(Logger.prototype, 'log').mockImplementation((line: unknown) => void logged.push(String(line)));
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  /** Sends a statement, which fails without BEGIN if there is an error. Returns how it was sent. */
  const send = async (error?: Error) => {
    const runner = {
      connect: async () => ({}),
      query: async (statement: unknown) => {
        if (error && String(statement) === 'autocommit') throw error;
        return { records: [statement] };
      },
    } as unknown as QueryRunner;
    return String((await sender.sendChange(runner, STATEMENT, []))[0]);
  };

  it('sends without BEGIN as long as the isolation level is READ COMMITTED', async () => {
    expect([await send(), await send(failure('23505')).catch(() => 'failed'), await send()]).toEqual([
      'autocommit',
      'failed',
      'autocommit',
    ]);
    expect(logged).toEqual([]);
  });

  it('sends in a transaction after two statements fail at once because of another level, and logs that once', async () => {
    expect(await Promise.all([send(WRONG_LEVEL), send(WRONG_LEVEL)])).toEqual([
      'in a transaction',
      'in a transaction',
    ]);
    expect(await send()).toBe('in a transaction');
    expect(logged).toEqual([expect.stringContaining('not READ COMMITTED')]);
  });
});
