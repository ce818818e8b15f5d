import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { PageRequest, type TimeLogAccess, type TimeLogFilter } from '../../src/time-log/index.js';
import type { Grouping, Totals, TypeOrmTotalsRepository } from '../../src/totals/index.js';
import { anyAccessTo, anyFilterOf, dayOf, LAST, numberOf } from './any-filter.js';
import { timesOf } from '../support/extent.js';
import { plainTotals } from './compare-reads.js';
import type { DataSource } from 'typeorm';
import { newIds, useDatabase, whileRepeating } from '../support/storage.js';

const RUNS = timesOf(3_000, 80);
const PROJECTS = ['00000000-0000-0000-0000-000000000000', randomUUID(), randomUUID()];
const ids = newIds();
const YEARS = [1, 4, 1600, 1969, 1970, 2000, 2025, 2026, 9999];

/** Around the edges of weeks, months, years and decades; a crowded month; the first and the last days. */
const anyDay = fc
  .oneof(
    fc.integer({ min: numberOf('2026-01-01'), max: numberOf('2026-01-31') }),
    fc.integer({ min: 105_600, max: 105_700 }).map((week) => 7 * week),
    fc
      .integer({ min: 1, max: 999 })
      .map((decade) => numberOf(`${String(10 * decade).padStart(4, '0')}-01-01`)),
    fc
      .record({ year: fc.constantFrom(...YEARS), month: fc.integer({ min: 1, max: 12 }) })
      .map(({ year, month }) =>
        numberOf(`${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-01`),
      ),
    fc.constantFrom(0, 6, 7, 31, LAST - 4, LAST),
    fc.integer({ min: 0, max: LAST }),
  )
  .chain((number) => fc.integer({ min: -1, max: 1 }).map((step) => number + step))
  .map((number) => dayOf(Math.min(LAST, Math.max(0, number))));

/** As SQL may store them: zeros at the end, more digits than a double has, and the ends of its range. */
const anyDuration = fc.oneof(
  fc.constantFrom('0.1', '1', '1.50', '2.000', '100', '0.30000000000000004'),
  fc.constantFrom('5e-324', '1.7976931348623157e308', '123456789012345678901234567890.000000000000000000001'),
  fc.integer({ min: 1, max: 100_000 }).map((cents) => `${Math.floor(cents / 100)}.${String(cents % 100)}1`),
);

const anyFilter = anyFilterOf(PROJECTS, anyDay);
const anyAccess = anyAccessTo(PROJECTS);
const anyGrouping = fc.constantFrom<Grouping | undefined>(
  ...([
    undefined,
    'project',
    'day',
    'week',
    'month',
    'project,day',
    'project,week',
    'project,month',
  ] as const),
);
const anyPage = fc
  .record({ number: fc.integer({ min: 1, max: 4 }), limit: fc.constantFrom(1, 2, 7, 50, 1000) })
  .map(({ number, limit }) => PageRequest.of(number, limit));

interface Row {
  readonly id: string;
  projectId: string;
  date: string;
  duration: string;
}

/** Returns the totals of the matching logs, added up one by one. */
function expected(
  { projectIds, period }: TimeLogFilter,
  grouping: Grouping | undefined,
  page: PageRequest,
  access: TimeLogAccess,
): Promise<Totals> {
  const matching = `($1::uuid[] is null or project_id = any ($1)) and ($2::uuid[] is null or project_id = any ($2))
    and date between coalesce($3, '-infinity'::date) and coalesce($4, 'infinity'::date)`;
  const allowed = access.projects ?? null;
  const parameters = [projectIds, allowed, period.from, period.to];
  return plainTotals(dataSource, [matching, parameters], period, grouping, page);
}

const database = useDatabase({ poolSize: 6 });
let dataSource: DataSource;
let repository: TypeOrmTotalsRepository;
beforeAll(async () => {
  ({ dataSource, totals: repository } = database);
  // Changes of 5 logs, and parts of more than 10, so that a few logs make all kinds of counts.
  const [{ text }] = await dataSource.query<[{ text: string }]>(
    `select pg_get_functiondef('count_time_logs()'::regprocedure) as text`,
  );
  const sizes: Readonly<Record<string, string>> = { 256: '5', 257: '6', 4096: '10', 4097: '11' };
  const [first, ...rest] = text.split(/\b(256|257|4096|4097)\b/);
  expect(rest).toHaveLength(10);
  await dataSource.query(first! + rest.map((part) => sizes[part] ?? part).join(''));
});
beforeEach(() => dataSource.query('truncate time_logs'));

async function insert(logs: readonly Row[]): Promise<void> {
  await dataSource.query(
    `insert into time_logs (id, project_id, duration, description, date)
     select id, project_id, duration::numeric, '', date
       from unnest($1::uuid[], $2::uuid[], $3::text[], $4::date[]) as log (id, project_id, duration, date)
     on conflict do nothing`,
    [
      logs.map(({ id }) => id),
      logs.map(({ projectId }) => projectId),
      logs.map(({ duration }) => duration),
      logs.map(({ date }) => date),
    ],
  );
}

const anyLog = fc.record({
  projectId: fc.constantFrom(...PROJECTS),
  date: anyDay,
  duration: anyDuration,
});
const anyLogs = (most: number) =>
  fc
    .array(anyLog, { minLength: 1, maxLength: most })
    .map((logs) => logs.map((log) => ({ id: ids.next(), ...log })));

/** A change by SQL, of some of the logs that are there: what it sets, or nothing where it deletes. */
const anyChange = fc.record({
  share: fc.integer({ min: 1, max: 5 }),
  set: fc.oneof(
    fc.record({ duration: anyDuration }),
    fc.record({ date: anyDay }),
    fc.record({ projectId: fc.constantFrom(...PROJECTS) }),
    anyLog,
    fc.constant(undefined),
  ),
});

describe('totals', () => {
  it('are the sums of the logs one by one, for any filter, access, grouping and page, after any change', async () => {
    await insert(fc.sample(anyLogs(600), { numRuns: 1, seed: 7 })[0]!);
    let seen = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.option(anyLogs(20), { nil: [] }),
        fc.option(anyChange, { nil: undefined, freq: 2 }),
        fc.constantFrom('alone', 'beside another', 'before a fold', 'before a whole fold'),
        fc.array(fc.tuple(anyFilter, anyGrouping, anyPage, anyAccess), { minLength: 3, maxLength: 3 }),
        async (more, change, company, questions) => {
          const other = await database.transaction();
          // A transaction is under way while others write and fold.
          if (company === 'beside another') {
            await other.query('select pg_current_xact_id()');
            await dataSource.query('select fold_time_log_counts(50)');
          }
          await insert(more);
          if (change !== undefined) await apply(change);
          await database.endTransactions();
          if (company === 'before a fold') await dataSource.query('select fold_time_log_counts(50)');
          if (company === 'before a whole fold')
            await dataSource.query('select fold_time_log_counts(100000)');
          for (const [filter, grouping, page, access] of questions) {
            const answer = await repository.totals(filter, grouping, page, access);
            expect(answer).toEqual(await expected(filter, grouping, page, access));
            seen += answer.groups.length;
          }
        },
      ),
      { numRuns: RUNS },
    );
    expect(seen).toBeGreaterThan(RUNS);
  });

  /** Changes a share of the logs. */
  async function apply({ share, set }: { readonly share: number; readonly set: Partial<Row> | undefined }) {
    const some = `id in (select id from (select id, row_number() over (order by id) as number from time_logs) numbered
                          where number % (9 * $1::integer) = 0)`;
    if (set === undefined) await dataSource.query(`delete from time_logs where ${some}`, [share]);
    else
      await dataSource.query(
        `update time_logs set duration = coalesce($2::text::numeric, duration), date = coalesce($3, date),
                              project_id = coalesce($4, project_id) where ${some}`,
        [share, set.duration, set.date, set.projectId],
      );
  }

  it('have counts and sums of one moment while others write, correct, delete and fold', async () => {
    await insert(fc.sample(anyLogs(300), 1)[0]!.map((log) => ({ ...log, duration: '1' })));
    let changes = 0;
    const change = async () => {
      const [logs, to] = fc.sample(fc.tuple(anyLogs(20), anyLog), 1)[0]!;
      const some = `id in (select id from time_logs order by md5(id::text || $1) limit 20 for update skip locked)`;
      await insert(logs.map((log) => ({ ...log, duration: '1' })));
      await dataSource.query(`delete from time_logs where ${some}`, [to.date]);
      await dataSource.query(`update time_logs set date = $1::text::date, project_id = $2 where ${some}`, [
        to.date,
        to.projectId,
      ]);
      changes++;
    };
    const fold = () => dataSource.query('select fold_time_log_counts(50)');
    const property = fc.asyncProperty(anyFilter, anyGrouping, anyAccess, async (filter, grouping, access) => {
      const totals = await repository.totals(filter, grouping, PageRequest.of(1, 1000), access);
      const { whole, groups, groupCount } = totals;
      for (const { count, duration } of [whole, ...groups]) expect(duration).toBe(String(count));
      if (grouping === undefined || groupCount > 1000) return;
      expect(groups).toHaveLength(groupCount);
      expect(groups.reduce((sum, { count }) => sum + count, 0)).toBe(whole.count);
    });
    await whileRepeating([change, change, change, fold], async () => fc.assert(property, { numRuns: RUNS }));
    expect(changes).toBeGreaterThan(10);
  });
});
