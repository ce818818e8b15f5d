import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  ALL_PROJECTS,
  itemsOf,
  PageRequest,
  Period,
  type TimeLogAccess,
  TimeLog,
  type TimeLogFilter,
  type TimeLogRepository,
  type TimeLogValues,
} from '../../../../src/time-log/index.js';
import { type ContractCase, type ContractOptions, ContractSuite, find } from './contract-suite.js';
import { describeExport } from './export-repository.contract.js';
import { describeFeed } from './feed-repository.contract.js';
import { newLog } from './new-log.js';
import { describeAccess } from './time-log-access.contract.js';
import { describeBatches } from './time-log-batches.contract.js';
import { describeCorrections } from './time-log-corrections.contract.js';
import { describeTotals } from './totals-repository.contract.js';

const everything = { period: Period.of() };
const DAYS = ['0001-01-01', '1582-10-10', '1999-12-31', '2024-02-29', '2026-01-31', '9999-12-31'];

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

  const listed = (filter: TimeLogFilter, page = PageRequest.of(1, 50)) =>
    find(repository, filter, page, ALL_PROJECTS);
  /** Adds logs of a new project in this order. Returns them with a filter for the project. */
  async function addAll(values: Partial<TimeLogValues>[]) {
    const projectId = randomUUID();
    const logs = values.map((some) => newLog({ ...some, projectId }));
    for (const log of logs) await repository.add(log);
    return { logs, projectId, filter: { projectIds: [projectId], period: Period.of() } };
  }

  suite.it('is empty at first', async () => {
    const empty = await create();
    deepEqual(await find(empty, everything, PageRequest.of(1, 50), ALL_PROJECTS), { logs: [], total: 0 });
  });

  suite.it('finds a log as it was added', async () => {
    const { logs, filter } = await addAll([{ duration: 1.5, description: 'work', date: '2024-02-29' }]);
    const found = await listed(filter);
    deepEqual(found, { logs, total: 1 });
    ok(found.logs[0] instanceof TimeLog);
    deepEqual(found.logs[0].createdAt, logs[0]!.createdAt);
  });

  suite.it('returns the items of a page with the values of the logs, whatever their characters', async () => {
    const characters = Array.from({ length: 0x2100 }, (_, code) => String.fromCodePoint(code + 1)).join('');
    const texts = [...(characters.match(/[^]{1,4000}/g) ?? []), '\u{10ffff}"\\', '"},{"id":"'];
    const numbers = [5e-324, 1e-7, 0.1 + 0.2, 1e15, 1e21, Number.MAX_VALUE, Number.MAX_SAFE_INTEGER];
    const values = [
      ...texts.map((description) => ({ description })),
      ...numbers.map((duration) => ({ duration })),
    ];
    const { logs, filter } = await addAll(values);
    const { items, total } = await repository.items(filter, PageRequest.of(1, 50), ALL_PROJECTS);
    deepEqual([...items], [...itemsOf(logs.toReversed())]);
    deepEqual(await listed(filter), { logs: logs.toReversed(), total });
  });

  suite.it('gets a log by its id, and nothing by an unknown id', async () => {
    const { logs } = await addAll([{ duration: 0.1, description: 'one' }, { date: '0001-01-01' }]);
    for (const log of logs) deepEqual(await repository.get(log.id, ALL_PROJECTS), log);
    ok((await repository.get(logs[0]!.id, ALL_PROJECTS)) instanceof TimeLog);
    equal(await repository.get(randomUUID(), ALL_PROJECTS), undefined);
  });

  suite.it('rejects a second log with the same id and keeps the first', async () => {
    const { logs, projectId, filter } = await addAll([{ description: 'first' }]);
    const second = TimeLog.restore({ ...valuesOf(logs[0]!), projectId, description: 'second' });
    await rejects(repository.add(second));
    deepEqual(await listed(filter), { logs, total: 1 });
  });

  suite.describe('returns unchanged', () => {
    suite.each(
      [
        Number.MIN_VALUE,
        Number.MAX_VALUE,
        Number.EPSILON,
        Number.MAX_SAFE_INTEGER,
        2 ** 53 + 2,
        0.1,
        0.1 + 0.2,
        1 / 3,
        5e-7,
        1e21,
        123456789.123456789,
        2.2250738585072014e-308,
      ],
      'the duration %s',
      async (duration) => {
        const { logs, filter } = await addAll([{ duration }]);
        const found = await listed(filter, PageRequest.of(1, 1));
        equal(found.logs[0]!.duration, logs[0]!.duration);
      },
    );

    suite.each(
      [
        ['no characters', ''],
        ['white space', ' \t\r\n\u00A0\u2028 '],
        ['5000 characters outside the BMP', '😀'.repeat(5000)],
        ['text that SQL or a driver might interpret', `'; drop table x; -- $1 \\ \\x00 %s {"a"} E'\\n'`],
        [
          'every character below U+0080 except U+0000',
          String.fromCharCode(...Array.from({ length: 127 }, (_, i) => i + 1)),
        ],
        ['composed and decomposed accents', '\u00E9 e\u0301'],
        ['noncharacters', '\uFFFE\uFFFF\u{10FFFF}\uFEFF'],
        ['right-to-left text', 'עברית العربية \u202E'],
      ],
      'a description of %s',
      async (_what, description) => {
        const { filter } = await addAll([{ description }]);
        const found = await listed(filter, PageRequest.of(1, 1));
        deepEqual(Buffer.from(found.logs[0]!.description), Buffer.from(description));
      },
    );

    suite.each(
      [
        '00000000-0000-0000-0000-000000000000',
        'ffffffff-ffff-ffff-ffff-ffffffffffff',
        '11111111-1111-1111-1111-111111111111',
      ],
      'the projectId %s',
      async (projectId) => {
        const [own, log] = [await create(), newLog({ projectId })];
        await own.add(log);
        deepEqual(
          await find(own, { ...everything, projectIds: [projectId] }, PageRequest.of(1, 1), ALL_PROJECTS),
          {
            logs: [log],
            total: 1,
          },
        );
      },
    );
  });

  suite.describe('orders', () => {
    suite.it('by date, newest first, whatever the order in which they were added', async () => {
      const dates = [3, 0, 5, 1, 4, 2].map((index) => ({ date: DAYS[index]! }));
      const { filter } = await addAll(dates);
      const { logs } = await listed(filter);
      deepEqual(
        logs.map(({ date }) => date),
        DAYS.toReversed(),
      );
    });

    suite.it('logs of one date by id, newest first', async () => {
      const projectId = randomUUID();
      const logs = Array.from({ length: 10 }, () => newLog({ projectId }));
      for (const index of [3, 7, 0, 9, 1, 5, 2, 8, 6, 4]) await repository.add(logs[index]!);
      const found = await listed({ ...everything, projectIds: [projectId] });
      deepEqual(found.logs, logs.toReversed());
    });
  });

  suite.describe('filters', () => {
    suite.it('by project, and finds nothing for a project without logs', async () => {
      const { logs, filter } = await addAll([{}, {}]);
      await addAll([{}]);
      deepEqual(await listed(filter), { logs: logs.toReversed(), total: 2 });
      const other = { ...everything, projectIds: [randomUUID()] };
      deepEqual(await listed(other), { logs: [], total: 0 });
    });

    suite.each(
      [
        [undefined, undefined, DAYS],
        ['1999-12-31', undefined, DAYS.slice(2)],
        ['2000-01-01', undefined, DAYS.slice(3)],
        [undefined, '1999-12-31', DAYS.slice(0, 3)],
        [undefined, '1999-12-30', DAYS.slice(0, 2)],
        ['2024-02-29', '2024-02-29', ['2024-02-29']],
        ['2024-02-28', '2024-03-01', ['2024-02-29']],
        ['2024-03-01', '2024-03-02', []],
        ['0001-01-01', '9999-12-31', DAYS],
        ['0001-01-01', '0001-01-01', ['0001-01-01']],
        ['9999-12-31', '9999-12-31', ['9999-12-31']],
      ],
      'from %s to %s, both ends included',
      async (from, to, expected) => {
        const { projectId } = await addAll(DAYS.map((date) => ({ date })));
        const { logs, total } = await listed({ projectIds: [projectId], period: Period.of(from, to) });
        deepEqual(
          logs.map(({ date }) => date),
          expected.toReversed(),
        );
        equal(total, expected.length);
      },
    );
  });

  suite.describe('pages', () => {
    suite.each(
      [1, 2, 3, 7, 8, 1000],
      'of %s items hold each log exactly once, with the total on each',
      async (limit) => {
        const dates = [1, 2, 1, 3, 1, 3, 1].map((day) => ({ date: `2026-01-0${day}` }));
        const { logs, filter } = await addAll(dates);
        const seen: TimeLog[] = [];
        for (let number = 1; number <= Math.ceil(7 / limit); number++) {
          const page = await listed(filter, PageRequest.of(number, limit));
          equal(page.total, 7);
          equal(page.logs.length, Math.min(limit, 7 - seen.length));
          seen.push(...page.logs);
        }
        deepEqual(seen, (await listed(filter, PageRequest.of(1, 1000))).logs);
        deepEqual(new Set(seen.map(({ id }) => id)), new Set(logs.map(({ id }) => id)));
      },
    );

    suite.each(
      [
        [3, 1],
        [2, 2],
        [2, 1000],
        [Number.MAX_SAFE_INTEGER, 1],
        [Number.MAX_SAFE_INTEGER, 1000],
      ],
      'past the end are empty, with the correct total: page %s of %s items',
      async (number, limit) => {
        const { filter } = await addAll([{}, {}]);
        deepEqual(await listed(filter, PageRequest.of(number, limit)), { logs: [], total: 2 });
      },
    );

    suite.it('hold up to 1000 logs', async () => {
      const projectId = randomUUID();
      const filter = { projectIds: [projectId], period: Period.of() };
      const adding = Array.from({ length: 1001 }, () => repository.add(newLog({ projectId })));
      await Promise.all(adding);
      const { logs, total } = await listed(filter, PageRequest.of(1, 1000));
      deepEqual([logs.length, total], [1000, 1001]);
    });
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
    const all = [...(await repository.after({ period }, undefined, 1000, ALL_PROJECTS))];
    deepEqual(all, (await listed({ period }, PageRequest.of(1, 1000))).logs);
    ok(all.length >= 2);
  });

  suite.it('keeps all logs that are added at once', async () => {
    const projectId = randomUUID();
    const logs = Array.from({ length: 100 }, () => newLog({ projectId }));
    await Promise.all(logs.map((log) => repository.add(log)));
    const found = await listed({ ...everything, projectIds: [projectId] }, PageRequest.of(1, 1000));
    deepEqual(found, { logs: logs.toReversed(), total: 100 });
  });

  const totals = totalsOf && (() => totalsOf(repository));
  const subject = { repository: () => repository, totals, newLog };
  if (totals) describeTotals(suite, subject, totals);
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
  describeAccess(suite, subject);
  describeBatches(suite, subject);

  suite.describe('adds a log once per key', () => {
    const alice = { caller: 'alice', text: 'key' };
    const outcomesOf = (logs: readonly TimeLog[], key = { ...alice, text: randomUUID() }) =>
      Promise.all(
        logs.map((log) =>
          repository.addOnce(log, key).catch((error: unknown) => (error as { code?: unknown }).code),
        ),
      );

    suite.it('and returns the id of the first log to retries', async () => {
      const projectId = randomUUID();
      const [first, second] = [newLog({ projectId }), newLog({ projectId })];
      const key = { caller: randomUUID(), text: ' ~' };
      equal(await repository.addOnce(first, key), first.id);
      equal(await repository.addOnce(second, key), first.id);
      deepEqual(await listed({ ...everything, projectIds: [projectId] }), { logs: [first], total: 1 });
    });

    suite.each(
      [
        ['projectId', { projectId: '11111111-1111-1111-1111-111111111112' }],
        ['duration', { duration: 1.0000000000000002 }],
        ['description', { description: ' ' }],
        ['date', { date: '2026-02-01' }],
      ],
      'and rejects the key with another %s',
      async (_name, other) => {
        const values = { projectId: '11111111-1111-1111-1111-111111111111' };
        const key = { caller: randomUUID(), text: 'key' };
        const first = newLog(values);
        await repository.addOnce(first, key);
        await rejects(repository.addOnce(newLog({ ...values, ...other }), key), {
          code: 'IDEMPOTENCY_KEY_REUSED',
        });
        equal(await repository.addOnce(newLog(values), key), first.id);
      },
    );

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
      const found = await listed({ ...everything, projectIds: [projectId] });
      equal(found.total, 1);
      deepEqual(ids, new Set([found.logs[0]!.id]));
    });

    suite.it('and stores one of several concurrent logs with different values', async () => {
      const projectId = randomUUID();
      const logs = [1, 2, 3].map((duration) => newLog({ projectId, duration }));
      const outcomes = await outcomesOf(logs);
      const found = await listed({ ...everything, projectIds: [projectId] });
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

  suite.it('calls listeners after it has stored a log', async () => {
    const listened = await create();
    let times = 0;
    listened.onRecorded(() => times++);
    await listened.add(newLog());
    equal(times, 1);
    await listened.addOnce(newLog(), { caller: 'p', text: 'k' });
    equal(times, 2);
    await listened.addAll([newLog(), newLog()]);
    ok(times > 2);
  });

  suite.it('reads page and total from one snapshot while logs are added', async () => {
    const projectId = randomUUID();
    const adding = Promise.all(Array.from({ length: 60 }, () => repository.add(newLog({ projectId }))));
    const reads = Array.from({ length: 30 }, () =>
      listed({ ...everything, projectIds: [projectId] }, PageRequest.of(1, 1000)),
    );
    for (const { logs, total } of await Promise.all(reads)) equal(logs.length, total);
    await adding;
  });
  return suite.cases;
}

function valuesOf({ id, projectId, duration, description, date }: TimeLog) {
  return { id, projectId, duration, description, date };
}
