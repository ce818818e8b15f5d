import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { GROUPINGS } from '../../../../src/totals/index.js';
import {
  ALL_PROJECTS,
  itemsOf,
  normalizedValues,
  PageRequest,
  Period,
  type TimeLogAccess,
  TimeLog,
  type TimeLogFilter,
  type TimeLogRepository,
  type TimeLogValues,
} from '../../../../src/time-log/index.js';
import {
  type ContractCase,
  type ContractOptions,
  type ContractSubject,
  ContractSuite,
  find,
} from './contract-suite.js';
import { describeExport } from './export-repository.contract.js';
import { describeFeed } from './feed-repository.contract.js';
import { newLog } from './new-log.js';
import { DIFFERENCES, LONG_TEXTS, NUMBERS, TEXTS } from './sample-values.js';
import { compareChanges, compareReads, newLogs, ONE, OTHER } from './time-log-access.contract.js';
import { describeBatches } from './time-log-batches.contract.js';
import { describeCorrections } from './time-log-corrections.contract.js';

const ALL = PageRequest.of(1, 1000);
/** The smallest and the largest id. */
const PROJECTS = ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'];

/** Returns the cases that every repository must pass. Run them one at a time, in any order. */
export function timeLogRepositoryContract<Logs extends TimeLogRepository>({
  make,
  totalsOf,
  feedOf,
  exportOf,
}: ContractOptions<Logs>): readonly ContractCase[] {
  const suite = new ContractSuite();
  const create = async () => make();
  let repository: Logs;
  suite.before(async () => {
    repository = await create();
  });
  const subject: ContractSubject = {
    repository: () => repository,
    totals: totalsOf && (() => totalsOf(repository)),
    exports: exportOf && (() => exportOf(repository)),
  };

  const listed = (filter: TimeLogFilter, page = ALL) => find(repository, filter, page, ALL_PROJECTS);
  const of = (projectId: string) => ({ projectIds: [projectId], period: Period.of() });
  /** Adds logs of a new project in this order. Returns them with a filter for the project. */
  async function addAll(values: Partial<TimeLogValues>[]) {
    const projectId = randomUUID();
    const logs = values.map((some) => newLog({ ...some, projectId }));
    for (const log of logs) await repository.add(log);
    return { logs, projectId, filter: of(projectId) };
  }

  suite.it('returns a log as it was added, and nothing for an unknown id', async () => {
    const { logs, filter } = await addAll([{ duration: 1.5, description: 'work', date: '2024-02-29' }]);
    const found = [(await listed(filter)).logs[0], await repository.get(logs[0]!.id, ALL_PROJECTS)];
    for (const log of found) {
      deepEqual(log, logs[0]);
      ok(log instanceof TimeLog);
      deepEqual(log.createdAt, logs[0]!.createdAt);
    }
    equal(await repository.get(randomUUID(), ALL_PROJECTS), undefined);
  });

  suite.it('returns all values unchanged, also as the items of a page', async () => {
    const { logs, filter } = await addAll([
      ...[...TEXTS, ...LONG_TEXTS].map((description) => ({ description })),
      ...NUMBERS.map((duration) => ({ duration })),
    ]);
    deepEqual(await listed(filter), { logs: logs.toReversed(), total: logs.length });
    const { items, total } = await repository.items(filter, ALL, ALL_PROJECTS);
    deepEqual([[...items], total], [[...itemsOf(logs.toReversed())], logs.length]);
    for (const projectId of PROJECTS) {
      const log = newLog({ projectId });
      await repository.add(log);
      deepEqual((await listed(of(projectId))).logs[0], log);
    }
  });

  suite.it('rejects a second log with the same id and keeps the first', async () => {
    const { logs, filter } = await addAll([{ description: 'first' }]);
    await rejects(
      repository.add(TimeLog.record({ ...normalizedValues(logs[0]!), description: 'second' }, logs[0]!.id)),
    );
    deepEqual(await listed(filter), { logs, total: 1 });
  });

  suite.it('reads the logs that a filter and an access select, newest first', async () => {
    const logs = newLogs();
    for (const log of logs.toSorted((a, b) => a.duration - b.duration)) await repository.add(log);
    await compareReads(subject, logs);
  });

  suite.each<[string, string, readonly string[], boolean]>(
    [
      ['of its project', ONE, [ONE], true],
      ['of one of its projects', OTHER, [ONE, OTHER], true],
      ['of another project', OTHER, [ONE], false],
      ['of any project', ONE, [], false],
    ],
    'within an access, gets, corrects and deletes a log %s only if it may',
    (_what, projectId, access, isVisible) => compareChanges(subject, access, isVisible, { projectId }),
  );

  suite.it('has each log on one page, with the total on each, also past the end', async () => {
    const dates = [1, 2, 1, 3, 1, 3, 1].map((day) => ({ date: `2026-01-0${day}` }));
    const { filter } = await addAll(dates);
    const { logs } = await listed(filter);
    for (const limit of [1, 2, 3, 7, 8, 1000])
      for (const number of [1, 2, 3, 4, 7, 8, Number.MAX_SAFE_INTEGER]) {
        const start = (number - 1) * limit;
        const expected = { logs: logs.slice(start, start + limit), total: 7 };
        deepEqual(await listed(filter, PageRequest.of(number, limit)), expected);
      }
  });

  suite.it('returns the logs after a place, each once while others are added, if it can', async () => {
    const dates = [1, 2, 1, 3, 1, 3, 1].map((day) => ({ date: `2026-01-0${day}` }));
    const { projectId, filter } = await addAll(dates);
    const { projectId: other } = await addAll([{ date: '2026-01-02' }]);
    if (!repository.after) return;
    const { logs } = await listed(filter);
    const seen: TimeLog[] = [];
    for (let rest = 4; rest > 0; rest--) {
      seen.push(...(await repository.after(filter, seen.at(-1), 2, ALL_PROJECTS)));
      await repository.add(newLog({ projectId, date: rest % 2 ? '2026-01-03' : '9999-12-31' }));
    }
    deepEqual(seen, logs);
    const period = Period.of('2026-01-02', '2026-01-02');
    const first = async (some: TimeLogFilter, access: TimeLogAccess) =>
      (await repository.after!(some, undefined, 1000, access)).map(({ id }) => id);
    const [, , ofDay] = logs.map(({ id }) => id);
    deepEqual(await first({ ...filter, period }, ALL_PROJECTS), [ofDay]);
    deepEqual(await first({ period }, [projectId]), [ofDay]);
    deepEqual(await first({ ...filter, period }, [other]), []);
    deepEqual(await first({ period }, []), []);
    const all = await repository.after({ period }, undefined, 1000, ALL_PROJECTS);
    deepEqual(all, (await listed({ period })).logs);
    ok(all.length >= 2);
  });

  suite.it('keeps all logs that are added at once, and returns up to 1000', async () => {
    const projectId = randomUUID();
    const logs = Array.from({ length: 1001 }, () => newLog({ projectId }));
    await Promise.all(logs.map((log) => repository.add(log)));
    deepEqual(await listed(of(projectId)), { logs: logs.slice(1).toReversed(), total: 1001 });
  });

  suite.it('reads pages and totals from one snapshot each while logs are added', async () => {
    const projectId = randomUUID();
    const filter = of(projectId);
    const adding = Promise.all(
      Array.from({ length: 8 }, async () => {
        for (let number = 0; number < 10; number++) await repository.add(newLog({ projectId }));
      }),
    );
    const pages = Array.from({ length: 30 }, () => listed(filter));
    const groupings = Array.from({ length: 5 }, () => [undefined, ...GROUPINGS]).flat();
    const sums = subject.totals
      ? groupings.map((by) => subject.totals!().totals(filter, by, ALL, ALL_PROJECTS))
      : [];
    for (const { logs, total } of await Promise.all(pages)) equal(logs.length, total);
    for (const { whole, groups } of await Promise.all(sums)) {
      equal(whole.duration, String(whole.count));
      for (const { count, duration } of groups) deepEqual({ count, duration }, whole);
    }
    await adding;
    equal((await listed(filter)).total, 80);
  });

  if (feedOf) {
    describeFeed(suite, async () => {
      const created = await create();
      return { repository: created, feed: feedOf(created) };
    });
  }
  if (exportOf) {
    describeExport(suite, async () => {
      const created = await create();
      return { repository: created, exports: exportOf(created), feed: feedOf?.(created) };
    });
  }
  describeCorrections(suite, subject);
  describeBatches(suite, subject);

  suite.describe('adds a log once per key', () => {
    const outcomesOf = (logs: readonly TimeLog[]) => {
      const key = { caller: 'alice', text: randomUUID() };
      return Promise.all(
        logs.map((log) =>
          repository.addOnce(log, key).catch((error: unknown) => (error as { code?: unknown }).code),
        ),
      );
    };

    suite.each(DIFFERENCES, 'and rejects the key with another %s', async (_name, other) => {
      const projectId = randomUUID();
      const [first, second] = [newLog({ projectId }), newLog({ projectId })];
      const key = { caller: randomUUID(), text: ' ~' };
      equal(await repository.addOnce(first, key), first.id);
      await rejects(repository.addOnce(newLog({ projectId, ...other }), key), {
        code: 'IDEMPOTENCY_KEY_REUSED',
      });
      equal(await repository.addOnce(second, key), first.id);
      deepEqual(await listed(of(projectId)), { logs: [first], total: 1 });
    });

    suite.it('but separates the keys of different callers, and different keys of one', async () => {
      const logs = Array.from({ length: 4 }, () => newLog());
      const [one, other] = [randomUUID(), randomUUID()];
      const keys = [one, other].flatMap((caller) => ['a', 'A'].map((text) => ({ caller, text })));
      const ids = await Promise.all(logs.map((log, index) => repository.addOnce(log, keys[index]!)));
      deepEqual(
        ids,
        logs.map(({ id }) => id),
      );
    });

    suite.it('also during concurrent retries', async () => {
      const projectId = randomUUID();
      const logs = Array.from({ length: 50 }, () => newLog({ projectId }));
      const ids = new Set(await outcomesOf(logs));
      const found = await listed(of(projectId));
      equal(found.total, 1);
      deepEqual(ids, new Set([found.logs[0]!.id]));
    });

    suite.it('and stores one of several concurrent logs with different values', async () => {
      const projectId = randomUUID();
      const logs = [1, 2, 3].map((duration) => newLog({ projectId, duration }));
      const outcomes = await outcomesOf(logs);
      const found = await listed(of(projectId));
      equal(found.total, 1);
      deepEqual(
        outcomes.toSorted(),
        [found.logs[0]!.id, 'IDEMPOTENCY_KEY_REUSED', 'IDEMPOTENCY_KEY_REUSED'].toSorted(),
      );
    });

    suite.it('and leaves the key free if the log is rejected', async () => {
      const first = newLog();
      await repository.add(first);
      const key = { caller: randomUUID(), text: 'key' };
      await rejects(repository.addOnce(first, key));
      const second = newLog({ projectId: first.projectId });
      equal(await repository.addOnce(second, key), second.id);
    });
  });

  suite.it('calls listeners after each change', async () => {
    const listened = await create();
    let times = 0;
    listened.onRecorded(() => times++);
    const log = newLog();
    await listened.add(log);
    equal(times, 1);
    await listened.addOnce(newLog(), { caller: 'p', text: 'k' });
    equal(times, 2);
    await listened.correct(TimeLog.record({ ...normalizedValues(log), duration: 2 }, log.id), ALL_PROJECTS);
    equal(times, 3);
    await listened.delete(log.id, ALL_PROJECTS);
    equal(times, 4);
    await listened.delete(log.id, ALL_PROJECTS);
    await listened.correct(log, ALL_PROJECTS);
    equal(times, 4);
    await listened.addAll([newLog(), newLog()]);
    ok(times > 4);
  });
  return suite.cases;
}
