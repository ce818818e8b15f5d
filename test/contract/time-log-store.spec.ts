import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import {
  PageRequest,
  Period,
  type TimeLog,
  type TimeLogFilter,
  type TimeLogValues,
} from '../../src/time-log/index.js';
import { LONG_TEXTS, newLog, NUMBERS, recordOnce, TEXTS } from './sample-logs.js';
import { compareChanges, compareReads, newLogs, ONE, OTHER } from './compare-reads.js';
import { ALL_PROJECTS, useStore } from '../support/storage.js';

const ALL = PageRequest.of(1, 1000);
/** The smallest and the largest id. */
const PROJECTS = ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'];

describe('the store of time logs', () => {
  const store = useStore();

  const listed = (filter: TimeLogFilter, page = ALL) => store.repository.find(filter, page, ALL_PROJECTS);
  const of = (projectId: string) => ({ projectIds: [projectId], period: Period.of() });
  /** Adds logs of a new project in this order. Returns them with a filter for the project. */
  async function addAll(values: Partial<TimeLogValues>[]) {
    const projectId = randomUUID();
    const logs = values.map((some) => newLog({ ...some, projectId }));
    for (const log of logs) await store.repository.record([log]);
    return { logs, projectId, filter: of(projectId) };
  }

  it('returns all values unchanged, also as the items of a page', async () => {
    const { logs, filter } = await addAll([
      ...[...TEXTS, ...LONG_TEXTS].map((description) => ({ description })),
      ...NUMBERS.map((duration) => ({ duration })),
    ]);
    expect(await listed(filter)).toEqual({ logs: logs.toReversed(), total: logs.length });
    const { items, total } = await store.repository.items(filter, ALL, ALL_PROJECTS);
    const expected = logs
      .toReversed()
      .map(({ id, projectId, duration, description, createdAt }) =>
        JSON.stringify({ id, projectId, duration, description, createdAt }),
      );
    expect([[...items], total]).toEqual([expected, logs.length]);
    for (const projectId of PROJECTS) {
      const log = newLog({ projectId });
      await store.repository.record([log]);
      expect((await listed(of(projectId))).logs[0]).toEqual(log);
    }
  });

  it('reads the logs that a filter and an access select, newest first', async () => {
    const logs = newLogs();
    for (const log of logs.toSorted((a, b) => a.duration - b.duration)) await store.repository.record([log]);
    await compareReads(store, logs);
  });

  it.each<[string, string, readonly string[], boolean]>([
    ['of its project', ONE, [ONE], true],
    ['of one of its projects', OTHER, [ONE, OTHER], true],
    ['of another project', OTHER, [ONE], false],
    ['of any project', ONE, [], false],
  ])(
    'within an access, gets, corrects and deletes a log %s only if it may',
    (_what, projectId, projects, isVisible) => compareChanges(store, { projects }, isVisible, { projectId }),
  );

  describe('adds a log once per key', () => {
    const outcomesOf = (logs: readonly TimeLog[]) => {
      const key = { caller: 'alice', text: randomUUID() };
      return Promise.all(
        logs.map((log) =>
          recordOnce(store.repository, log, key).catch(
            (error: unknown) => (error as { code?: unknown }).code,
          ),
        ),
      );
    };

    it('but separates the keys of different callers, and different keys of one', async () => {
      const logs = Array.from({ length: 4 }, () => newLog());
      const [one, other] = [randomUUID(), randomUUID()];
      const keys = [one, other].flatMap((caller) => ['a', 'A'].map((text) => ({ caller, text })));
      const ids = await Promise.all(
        logs.map((log, index) => recordOnce(store.repository, log, keys[index]!)),
      );
      expect(ids).toEqual(logs.map(({ id }) => id));
    });

    it('and stores one of several concurrent logs with different values', async () => {
      const projectId = randomUUID();
      const logs = [1, 2, 3].map((duration) => newLog({ projectId, duration }));
      const outcomes = await outcomesOf(logs);
      const found = await listed(of(projectId));
      expect(found.total).toBe(1);
      expect(outcomes.toSorted()).toEqual(
        [found.logs[0]!.id, 'IDEMPOTENCY_KEY_REUSED', 'IDEMPOTENCY_KEY_REUSED'].toSorted(),
      );
    });
  });
});
