import { randomUUID } from 'node:crypto';
import { afterEach, expect, it, jest } from '@jest/globals';
import { DomainError } from '../../../errors/src/index.js';
import { LOG } from '../../../../test/support/requests.js';
import { TimeLog } from '../../../../src/time-log/index.js';
import { SharedCreates } from './shared-creates.js';

/** The events of the transaction of two creates; the first one has a key. */
interface Events {
  readonly keyed?: () => void;
  readonly within?: () => void;
  readonly commit?: () => void;
}

const newLog = () => TimeLog.record(LOG, randomUUID());
let now = 0;
const fail = (code: 'CONFLICT' | 'SERVICE_UNAVAILABLE' | 'IDEMPOTENCY_KEY_REUSED') => () => {
  throw code === 'SERVICE_UNAVAILABLE'
    ? new DomainError(code)
    : new DomainError({ code, status: 400, message: code });
};
const unavailable = fail('SERVICE_UNAVAILABLE');

afterEach(() => {
  jest.restoreAllMocks();
});

it.each<[string, Events, string, string]>([
  ['a success', {}, 'shared', 'shared'],
  ['an error of the hook', { within: fail('CONFLICT') }, 'alone', 'alone'],
  ['an outage for the hook', { within: unavailable }, 'alone', 'alone'],
  ['an error at the commit', { commit: fail('CONFLICT') }, 'alone', 'alone'],
  ['an outage at the commit', { commit: unavailable }, 'SERVICE_UNAVAILABLE', 'SERVICE_UNAVAILABLE'],
  ['a key that is in use', { keyed: unavailable }, 'alone', 'shared'],
  ['a key with other values', { keyed: fail('IDEMPOTENCY_KEY_REUSED') }, 'alone', 'shared'],
  ['an error of one key', { keyed: fail('CONFLICT') }, 'alone', 'alone'],
  ['the end of the deadline', { within: () => (now += 2_000) }, 'SERVICE_UNAVAILABLE', 'SERVICE_UNAVAILABLE'],
])('after %s', async (_event, events, ...outcomes) => {
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  let happening: Events = {};
  const writes = {
    record: async (logs: readonly TimeLog[], options?: object) => {
      if (options) happening.keyed?.();
      return logs;
    },
  };
  const repository = {
    within: () => writes,
    transact: async <T>(work: (transaction: object) => Promise<T>) => {
      const outcome = await work({});
      happening.commit?.();
      // After the first create, which shares its transaction with none.
      happening = events;
      return outcome;
    },
  } as never;
  const hooks = { batched: true, within: () => happening.within?.() } as const;
  const shared = new SharedCreates(repository, hooks, { queue: 9, wait: 1_000 });
  const add = (text?: string) => {
    const log = newLog();
    const key = text === undefined ? undefined : { caller: 'ada', text, fingerprint: '' };
    const outcome = shared.add({ log, key, call: {} }, undefined, () => Promise.resolve([{ id: 'alone' }]));
    return outcome.then(
      ([recorded]) => (recorded!.id === log.id ? 'shared' : recorded!.id),
      (error: unknown) => (error as DomainError).code,
    );
  };
  expect(await Promise.all([add(), add('key'), add()])).toEqual(['shared', ...outcomes]);
});

it('accepts no more creates while too many wait for a transaction of their own', async () => {
  const writes = {
    record: async (_logs: readonly TimeLog[], options?: object) => {
      if (options) throw new DomainError('SERVICE_UNAVAILABLE');
    },
  };
  const repository = {
    within: () => writes,
    transact: (work: (transaction: object) => Promise<unknown>) => work({}),
  } as never;
  const shared = new SharedCreates(
    repository,
    { batched: true, within: () => undefined },
    { queue: 1, wait: 60_000 },
  );
  let end!: (recorded: []) => void;
  const create = { log: newLog(), key: { caller: 'ada', text: 'key', fingerprint: '' }, call: {} };
  const begun = new Promise<void>((begin) => {
    void shared.add(create, undefined, () => {
      begin();
      return new Promise((resolve) => (end = resolve));
    });
  });
  await begun;
  const other = (deadline?: number) =>
    shared.add({ log: newLog(), call: {} }, deadline, () => Promise.reject(new Error()));
  await expect(other()).rejects.toThrow('the write queue is full');
  await other(60_000);
  end([]);
});
