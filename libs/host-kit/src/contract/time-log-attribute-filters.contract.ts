import { deepEqual, equal } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ExportRepository } from '../../../../src/export/index.js';
import type { Grouping, TotalsRepository } from '../../../../src/totals/index.js';
import {
  ALL_PROJECTS,
  type AttributeValues,
  haveValues,
  normalizedValues,
  PageRequest,
  Period,
  type TimeLogAccess,
  TimeLog,
  type TimeLogFilter,
  type TimeLogRepository,
} from '../../../../src/time-log/index.js';
import { totalsOf } from '../testing/totals-of.js';
import { type ContractSuite, find } from './contract-suite.js';
import { newLog } from './new-log.js';

const ALL = PageRequest.of(1, 1000);
const GROUPINGS: (Grouping | undefined)[] = [
  undefined,
  ...(['project', 'day', 'week', 'month', 'project,day', 'project,week', 'project,month'] as const),
];
const [ONE, OTHER, EMPTY] = [randomUUID(), randomUUID(), randomUUID()].sort() as [string, string, string];
const ODD_NAME = `'"\\ $1`;
const ODD_TEXT = `'; -- "\\u0000" 😀`;
/** The attributes of logs, each twice in each project. */
const ATTRIBUTES = [
  undefined,
  {},
  { user: 'ada', rate: 1.5, billable: true },
  { user: 'ada', rate: 2, billable: false },
  { user: 'bob', rate: 1.5, more: { user: 'ada' } },
  { user: ['ada'], rate: '1.5', billable: 'true' },
  { user: 1, billable: null, [ODD_NAME]: ODD_TEXT },
  { user: 'x'.repeat(5_000), [ODD_NAME]: '' },
];
const DAYS = ['0001-01-01', '2026-01-31', '2026-02-01', '9999-12-31'];
const DURATIONS = [0.1, 0.2, 1e21, 5e-324, 8];

/** The attributes of a filter, and those of an access. */
const CASES: [AttributeValues | undefined, AttributeValues | undefined][] = [
  [{ user: 'ada' }, undefined],
  [{ rate: 1.5 }, undefined],
  [{ billable: false }, undefined],
  [{ user: 'ada', billable: true }, undefined],
  [{ user: '1' }, undefined],
  [{ [ODD_NAME]: ODD_TEXT }, undefined],
  [{ [ODD_NAME]: '' }, undefined],
  [{ missing: true }, undefined],
  [undefined, { user: 'ada' }],
  [{ rate: 1.5 }, { user: 'ada' }],
  [{ user: 'ada' }, { user: 'ada' }],
  [{ user: 'bob' }, { user: 'ada' }],
];

/** The repository that filters attributes, and the totals and exports of its logs. */
interface Subject {
  readonly repository: () => TimeLogRepository;
  readonly totals: (() => TotalsRepository) | undefined;
  readonly exports: (() => ExportRepository) | undefined;
}

/** Adds the cases of `filtersAttributes`: filters by attributes, and an access that is bound to them. */
export function describeAttributeFilters(
  suite: ContractSuite,
  { repository, totals, exports }: Subject,
): void {
  const logs = [ONE, OTHER].flatMap((projectId) =>
    [...ATTRIBUTES, ...ATTRIBUTES].map((attributes, index) =>
      newLog({
        projectId,
        attributes,
        date: DAYS[(index * 3 + index / 8) & 3]!,
        duration: DURATIONS[index % DURATIONS.length]!,
      }),
    ),
  );
  suite.before(async () => {
    for (const log of logs) await repository().add(log);
  });
  const newestFirst = logs.toSorted((a, b) => (a.date + a.id < b.date + b.id ? 1 : -1));
  const bound = (attributes: AttributeValues | undefined, projects: 'all' | readonly string[]) =>
    attributes ? { projects, attributes } : projects;

  suite.each(CASES, 'reads the logs with the attributes %s within an access to %s', async (own, access) => {
    if (!repository().filtersAttributes) return;
    for (const [projectIds, projects, from, to] of [
      [[ONE, OTHER], ALL_PROJECTS, undefined, undefined],
      [[ONE], ALL_PROJECTS, undefined, undefined],
      [undefined, [OTHER, EMPTY], undefined, undefined],
      [[ONE, EMPTY], [OTHER, ONE], '0001-01-01', '2026-01-31'],
      [undefined, [ONE, OTHER], '2026-02-01', undefined],
      [[ONE], [OTHER], undefined, undefined],
      [undefined, [], undefined, undefined],
    ] as const) {
      const filter: TimeLogFilter = { projectIds, period: Period.of(from, to), attributes: own };
      const query = [filter, ALL, bound(access, projects)] as const;
      const matching = newestFirst.filter(
        ({ projectId, date, attributes }) =>
          (projectIds?.includes(projectId as never) ?? true) &&
          (projects === ALL_PROJECTS || projects.includes(projectId as never)) &&
          (from ?? date) <= date &&
          date <= (to ?? date) &&
          haveValues(attributes, { ...own, ...access }) &&
          haveValues(attributes, own),
      );
      const total = matching.length;
      deepEqual(await find(repository(), ...query), { logs: matching, total });
      const items = await repository().items(...query);
      deepEqual([[...items.items].length, items.total], [total, total]);
      const second = [filter, PageRequest.of(2, 1), query[2]] as const;
      deepEqual(await find(repository(), ...second), { logs: matching.slice(1, 2), total });
      const next = matching.slice(1, 2);
      if (repository().weigh) equal((await repository().weigh!(...second)) > 0, next.length > 0);
      if ((projectIds ?? projects).length === 1 && repository().after) {
        deepEqual(await repository().after!(filter, undefined, 1000, query[2]), matching);
        if (total > 0)
          deepEqual(await repository().after!(filter, matching[0], 1, query[2]), matching.slice(1, 2));
      }
      for (const grouping of totals ? GROUPINGS : [])
        for (const page of [ALL, PageRequest.of(2, 1)])
          deepEqual(
            await totals!().totals(filter, grouping, page, query[2]),
            totalsOf(matching, filter.period, grouping, page),
          );
      if (exports === undefined) continue;
      const request = { filter, format: 'ndjson', access: query[2] } as const;
      const exported = await exports().export(request, async ({ content, lastEventId }) => {
        const parts: Uint8Array[] = [];
        for await (const part of content) parts.push(part);
        const lines = Buffer.concat(parts).toString().split('\n').slice(0, -1);
        return [lastEventId, lines.map((line) => (JSON.parse(line) as TimeLog).id)];
      });
      deepEqual(exported, [undefined, matching.map(({ id }) => id).toReversed()]);
    }
  });

  suite.each(
    [
      ['other values', ALL_PROJECTS, { user: 'bob' }, false],
      ['no values', ALL_PROJECTS, undefined, false],
      ['its values', ALL_PROJECTS, { user: 'ada', rate: 3 }, true],
      ['its values in another project', [OTHER], { user: 'ada' }, false],
      ['its values in its project', [ONE], { user: 'ada' }, true],
    ] as [string, TimeLogAccess, AttributeValues | undefined, boolean][],
    'within an access to attributes, gets, corrects and deletes a log with %s only if it may',
    async (_what, projects, attributes, isVisible) => {
      if (!repository().filtersAttributes) return;
      const access = { projects, attributes: { user: 'ada' } } as TimeLogAccess;
      const log = newLog({ projectId: ONE, attributes });
      await repository().add(log);
      const seen = <T>(one: T) => (isVisible ? one : undefined);
      deepEqual(await repository().get(log.id, access), seen(log));
      const longer = TimeLog.record({ ...normalizedValues(log), attributes: undefined, duration: 2 }, log.id);
      const stored = TimeLog.record({ ...normalizedValues(log), duration: 2 }, log.id);
      deepEqual(await repository().correct(longer, access), seen(stored));
      if (!isVisible) {
        // Also if it has other values than it is expected to have.
        equal(await repository().correct(longer, access, undefined, stored), undefined);
        equal(await repository().delete(log.id, access, undefined, stored), undefined);
      }
      deepEqual(await repository().delete(log.id, access), seen(stored));
      deepEqual(await repository().get(log.id, ALL_PROJECTS), isVisible ? undefined : log);
    },
  );
}
