import { beforeEach, describe, expect, it } from '@jest/globals';
import type { QueryRunner } from 'typeorm';
import { FailedWork, OverdueTransaction, transacted } from './transaction.js';

describe('a transaction of our own', () => {
  let done: string[];
  /** What fails, by the beginning of its text. */
  let failing: string | undefined;

  beforeEach(() => {
    done = [];
    failing = undefined;
    mark = 'open';
    runner.isReleased = false;
  });

  /** What the server says of the mark of the transaction. */
  let mark: string;

  const act = (statement: string) => {
    done.push(statement);
    return failing !== undefined && statement.startsWith(failing)
      ? Promise.reject(new Error(`no ${failing}`))
      : Promise.resolve([{ mark }]);
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
  const run = (work: () => Promise<unknown> = () => act('work'), whole = 600_000) =>
    transacted(
      runner,
      work,
      { rowWait: 10, whole, refusalOf: () => undefined },
      {
        watched: (statement) => {
          done.push('watched:');
          return statement();
        },
        giveUp: async () => {
          done.push('given up');
        },
      },
    );
  const CHECK = `select current_setting('time_logs.transaction', true) as mark`;
  const BEGIN = ['watched:', 'begin', 'watched:', 'set transaction isolation level read committed'];

  it('looks after each statement of its own, and leaves the work to itself', async () => {
    await run();
    expect(done).toEqual([...BEGIN, 'work', ...['watched:', CHECK, 'watched:', 'commit']]);
  });

  it.each(['begin', 'set transaction', 'select current_setting', 'commit'])(
    'is rolled back without %s',
    async (what) => {
      failing = what;
      await expect(run()).rejects.toThrow(`no ${what}`);
      expect(done.slice(-2)).toEqual(['watched:', 'rollback']);
    },
  );

  it('acknowledges nothing where the work has ended it', async () => {
    mark = '';
    await expect(run()).rejects.toMatchObject({ cause: { message: /^a hook has ended the transaction/ } });
    expect(done.slice(-2)).toEqual(['watched:', 'rollback']);
  });

  it('leaves a connection alone that the work has released', async () => {
    const released = run(async () => {
      runner.isReleased = true;
    });
    await expect(released).rejects.toMatchObject({ cause: { message: /^a hook has ended/ } });
    expect(done).toEqual(BEGIN);
  });

  it('gives the connection up where it cannot be rolled back', async () => {
    failing = 'rollback';
    const failed = run(() => Promise.reject(new Error('no')));
    await expect(failed).rejects.toBeInstanceOf(FailedWork);
    expect(done.slice(-2)).toEqual(['rollback', 'given up']);
  });

  it('gives the connection up, and leaves the work behind, after its time', async () => {
    await expect(run(() => new Promise(() => undefined), 50)).rejects.toBeInstanceOf(OverdueTransaction);
    expect(done).toEqual([...BEGIN, 'given up']);
  });
});
