import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import { type Grouping, GROUPINGS, type GroupSum, type Sum, type Totals } from '../../src/totals/index.js';
import {
  type Attributes,
  type AttributeValues,
  haveValues,
  normalizedValues,
  PageRequest,
  Period,
  TimeLog,
  type TimeLogAccess,
  type TimeLogFilter,
  type TimeLogValues,
} from '../../src/time-log/index.js';
import { newLog } from './sample-logs.js';
import type { DataSource } from 'typeorm';
import { logsOf } from './compare-export.js';
import type { Store } from '../support/storage.js';
import { ALL_PROJECTS } from '../support/storage.js';

export const [ONE, OTHER] = [randomUUID(), randomUUID()].sort() as [string, string];
const EMPTY = randomUUID();
const ALL = PageRequest.of(1, 1000);
const SECOND = PageRequest.of(2, 1);
/** Days on both sides of the boundaries of weeks, months, years and the calendar. */
const DAYS = [
  ...['0001-01-01', '0001-01-07', '0001-01-08', '2024-02-29', '2025-12-28', '2025-12-29', '2026-01-04'],
  ...['2026-01-05', '2026-01-31', '2026-02-01', '9999-12-26', '9999-12-27', '9999-12-31'],
];
const DURATIONS = [0.1, 0.2, 1e21, 5e-324, 8, Number.MAX_VALUE, 0.1 + 0.2];

/** The projects of a filter and of an access, and the first and the last day of the filter. */
type Query = readonly [
  projectIds: readonly string[] | undefined,
  projects: readonly string[] | undefined,
  from?: string | undefined,
  to?: string,
];

const QUERIES: readonly Query[] = [
  [[ONE, OTHER], undefined],
  [[ONE], undefined],
  [[EMPTY], undefined],
  [undefined, [OTHER, EMPTY]],
  [undefined, [OTHER, OTHER]],
  [undefined, []],
  [[ONE], [OTHER]],
  [[ONE, EMPTY], [OTHER, ONE], '0001-01-01', '2026-01-31'],
  [undefined, [ONE, OTHER], '2026-02-01'],
  // No other case has logs on these days.
  [undefined, undefined, '2025-12-28', '2025-12-29'],
];
const PERIODS: readonly Query[] = [
  [[ONE, OTHER], undefined, '2025-12-29', '2026-01-31'],
  [[ONE, OTHER], undefined, '2025-12-30', '2026-02-01'],
  [[ONE, OTHER], undefined, '2024-03-01', '2025-12-27'],
  [[OTHER], undefined, '2024-02-29', '2024-02-29'],
  [[ONE], undefined, '9999-12-30'],
  [[OTHER], undefined, undefined, '0001-01-06'],
];

/** Returns logs of two projects, with the same days, durations and attributes; one has a log more. */
export function newLogs(attributes: readonly (Attributes | undefined)[] = [undefined]): TimeLog[] {
  const logs = [ONE, OTHER].flatMap((projectId) =>
    Array.from({ length: 2 * DAYS.length }, (_, index) =>
      newLog({
        projectId,
        attributes: attributes[index % attributes.length],
        date: DAYS[(5 * index) % DAYS.length]!,
        duration: DURATIONS[index % DURATIONS.length]!,
        description: 'x',
      }),
    ),
  );
  return [...logs, newLog({ projectId: OTHER, date: '2026-02-01', description: 'x' })];
}

/** Compares all reads of these logs with those that a filter and an access select. */
export async function compareReads(
  store: Store,
  logs: readonly TimeLog[],
  own?: AttributeValues,
  bound?: AttributeValues,
): Promise<void> {
  for (const [projectIds, projects, from, to] of own || bound ? QUERIES : [...QUERIES, ...PERIODS]) {
    const filter = { projectIds, period: Period.of(from, to), attributes: own };
    const access = { projects, attributes: bound };
    const matching = logs
      .filter(({ projectId }) => projectIds?.includes(projectId) ?? true)
      .filter(({ projectId }) => projects?.includes(projectId) ?? true)
      .filter(({ date }) => (from ?? date) <= date && date <= (to ?? date))
      .filter(({ attributes }) => haveValues(attributes, own) && haveValues(attributes, bound))
      .sort((a, b) => (a.date + a.id < b.date + b.id ? 1 : -1));
    try {
      await comparePages(store, filter, access, matching);
      if ((projectIds ?? projects)?.length === 1) await compareAfter(store, filter, access, matching);
      await compareSums(store, filter, access, matching);
      await compareExportedLogs(store, filter, access, matching);
    } catch (cause) {
      throw new Error(`reads of ${JSON.stringify(filter)} with access ${JSON.stringify(access)}`, { cause });
    }
  }
}

type Comparison = [store: Store, filter: TimeLogFilter, access: TimeLogAccess, matching: readonly TimeLog[]];

async function comparePages(...[store, filter, access, matching]: Comparison): Promise<void> {
  const total = matching.length;
  const second = matching.slice(1, 2);
  expect(await store.repository.find(filter, ALL, access)).toEqual({ logs: matching, total });
  expect(await store.repository.find(filter, SECOND, access)).toEqual({ logs: second, total });
  const page = await store.repository.items(filter, ALL, access);
  expect([[...page.items].length, page.total]).toEqual([total, total]);
}

async function compareAfter(...[store, filter, access, matching]: Comparison): Promise<void> {
  expect(await store.repository.after(filter, undefined, 1000, access)).toEqual(matching);
  if (matching.length === 0) return;
  expect(await store.repository.after(filter, matching[0], 1, access)).toEqual(matching.slice(1, 2));
}

async function compareSums(...[store, filter, access, matching]: Comparison): Promise<void> {
  const selected = ['id = any($1)', [matching.map(({ id }) => id)]] as const;
  for (const grouping of [undefined, ...GROUPINGS])
    for (const page of [ALL, SECOND])
      expect(await store.totals.totals(filter, grouping, page, access)).toEqual(
        await plainTotals(store.dataSource, selected, filter.period, grouping, page),
      );
}

async function compareExportedLogs(...[store, filter, access, matching]: Comparison): Promise<void> {
  await store.exports.export({ filter, access }, async (logs) => {
    expect(await logsOf(logs)).toEqual(matching.toReversed());
    expect(logs.total).toBe(matching.length);
    const { period, attributes = access.attributes } = filter;
    const isPartial = (period.from ?? period.to ?? attributes) !== undefined;
    expect(logs.lastEventId === undefined).toBe(isPartial);
  });
}

/** Gets, corrects and deletes a log of a project, which count as missing if the access does not allow it. */
export async function compareChanges(
  store: Store,
  access: TimeLogAccess,
  isVisible: boolean,
  values: Partial<TimeLogValues>,
): Promise<void> {
  const log = newLog(values);
  await store.repository.record([log]);
  const seen = <T>(one: T) => (isVisible ? one : undefined);
  const moved = { ...normalizedValues(log), projectId: ONE, duration: 2 };
  const correction = TimeLog.of({ ...moved, attributes: undefined }, log.id);
  const stored = TimeLog.of(moved, log.id);
  expect(await store.repository.get(log.id, access)).toEqual(seen(log));
  expect(await store.repository.correct(correction, access)).toEqual(seen(stored));
  if (!isVisible) {
    // Also if it has other values than it is expected to have.
    expect(await store.repository.correct(correction, access, undefined, stored)).toBe(undefined);
    expect(await store.repository.delete(log.id, access, undefined, stored)).toBe(undefined);
  }
  expect(await store.repository.delete(log.id, access)).toEqual(seen(stored));
  expect(await store.repository.delete(log.id, ALL_PROJECTS)).toEqual(isVisible ? undefined : log);
}

/** SQL for the first and the last day of the period of a log. */
const DAYS_OF: Readonly<Record<string, readonly [first: string, last: string]>> = {
  day: ['date', 'date'],
  week: [`date_trunc('week', date)::date`, `date_trunc('week', date)::date + 6`],
  month: [
    `date_trunc('month', date)::date`,
    `(date_trunc('month', date) + interval '1 month - 1 day')::date`,
  ],
};
const SUM = `count(*)::integer as count, coalesce(trim_scale(sum(duration)), 0)::text as duration`;

/** Returns the totals of the logs that a condition selects, by plain queries that read each of them. */
export async function plainTotals(
  dataSource: DataSource,
  [condition, parameters]: readonly [condition: string, parameters: readonly unknown[]],
  { from, to }: TimeLogFilter['period'],
  grouping: Grouping | undefined,
  { limit, offset }: PageRequest,
): Promise<Totals> {
  const query = <Row>(select: string, rest = '') =>
    dataSource.query<Row[]>(`select ${select} from time_logs where ${condition} ${rest}`, [...parameters]);
  const [whole] = await query<Sum>(SUM);
  if (grouping === undefined) return { whole: whole!, groups: [], groupCount: 0 };
  const [first, last] = DAYS_OF[grouping.split(',').at(-1)!] ?? [];
  const columns = [
    ...(grouping.startsWith('project') ? ['project_id as "projectId"'] : []),
    ...(first ? [`greatest(${first}, '${from ?? '0001-01-01'}')::text as "from"`] : []),
    ...(last ? [`least(${last}, '${to ?? '9999-12-31'}')::text as "to"`] : []),
  ];
  const order =
    grouping === 'project'
      ? 'sum(duration) desc, "projectId"'
      : columns.length === 3
        ? '"projectId", "from" desc'
        : '"from" desc';
  const groups = await query<GroupSum>(
    `${columns.join(', ')}, ${SUM}`,
    `group by ${columns.map((_, index) => index + 1).join()}
     order by ${order}`,
  );
  const start = Number(offset);
  return { whole: whole!, groups: groups.slice(start, start + limit), groupCount: groups.length };
}
