import { beforeEach, describe, expect, it } from '@jest/globals';
import type { QueryRunner } from 'typeorm';
import { runInTransaction, TransactionTimeoutError, WorkError } from './transaction.js';

describe('runInTransaction', () => {
  let done: string[];
  /** The prefix of the statement that fails. */
  let failing: string | undefined;

  beforeEach(() => {
    done = [];
    failing = undefined;
    marker = 'open';
    runner.isReleased = false;
  });

  /** The marker of the transaction, as the server returns it. */
  let marker: string;

  const act = (statement: string) => {
    done.push(statement);
    return failing !== undefined && statement.startsWith(failing)
      ? Promise.reject(new Error(`no ${failing}`))
      : Promise.resolve([{ marker }]);
  };
  const runner = {
    manager: {},
    isReleased: false,
    isTransactionActive: true,
    startTransaction: () => act('begin'),
    query: (text: string) => act(text.split(/[;\n]/)[0]!),
    commitTransaction: () => act('commit'),
    rollbackTransaction: () => act('rollback'),
  } as unknown as QueryRunner & { isReleased: boolean };
  const run = (work: () => Promise<unknown> = () => act('work'), timeout = 600_000) =>
    runInTransaction(
      runner,
      work,
      { lockTimeout: 10, timeout, mapCommitError: () => undefined },
      {
        watch: (_runner, statement) => {
          done.push('watched:');
          return statement();
        },
        discard: async () => {
          done.push('discarded');
        },
      },
    );
  const CHECK = `select current_setting('time_logs.transaction', true) as marker`;
  const BEGIN = ['watched:', 'begin', 'watched:', 'set transaction isolation level read committed'];

  it('watches its own statements, but not those of the work', async () => {
    await run();
    expect(done).toEqual([...BEGIN, 'work', ...['watched:', CHECK, 'watched:', 'commit']]);
  });

  it.each(['begin', 'set transaction', 'select current_setting', 'commit'])(
    'rolls back if %s fails',
    async (what) => {
      failing = what;
      await expect(run()).rejects.toThrow(`no ${what}`);
      expect(done.slice(-2)).toEqual(['watched:', 'rollback']);
    },
  );

  it('rejects if the work has ended the transaction', async () => {
    marker = '';
    await expect(run()).rejects.toMatchObject({ cause: { message: /^a hook has ended the transaction/ } });
    expect(done.slice(-2)).toEqual(['watched:', 'rollback']);
  });

  it('does not use a connection that the work has released', async () => {
    const released = run(async () => {
      runner.isReleased = true;
    });
    await expect(released).rejects.toMatchObject({ cause: { message: /^a hook has ended/ } });
    expect(done).toEqual(BEGIN);
  });

  it('discards the connection if the rollback fails', async () => {
    failing = 'rollback';
    const failed = run(() => Promise.reject(new Error('no')));
    await expect(failed).rejects.toBeInstanceOf(WorkError);
    expect(done.slice(-2)).toEqual(['rollback', 'discarded']);
  });

  it('discards the connection and abandons the work after the timeout', async () => {
    await expect(run(() => new Promise(() => undefined), 50)).rejects.toBeInstanceOf(TransactionTimeoutError);
    expect(done).toEqual([...BEGIN, 'discarded']);
  });
});
