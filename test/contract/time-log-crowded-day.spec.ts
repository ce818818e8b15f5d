import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type DataSource, useDatabase } from '../support/storage.js';

const LOGS = 20_000;
const PAGE_SIZE = 10;
const project = (number: number) => `00000000-0000-4000-8000-00000000000${number}`;

/**
 * One day with almost all logs, in turn of three large projects and, one in a hundred, of a small one. The days around
 * it are of the same month, or the next. Each was created a millisecond after the one before.
 */
const SEED = `
  insert into time_logs (id, project_id, duration, description, date)
  select ('0' || to_hex(x'019c13704e1b'::bigint + n) || '7000' || '8000000000000000')::uuid,
         (case when n % 100 = 0 then '${project(4)}' else '00000000-0000-4000-8000-00000000000' || n % 3 + 1 end)::uuid,
         1, '', case when n <= 3 then date '2026-01-30' when n > ${LOGS - 3} then date '2026-02-01' else date '2026-01-31' end
    from generate_series(1, ${LOGS}) n`;

/** The scope, the first parameter of the function, the logs of the scope, and the number of projects of a page. */
const SCOPES = [
  ['all', null, 'true', 1],
  ['one project', [project(1)], `project_id = '${project(1)}'`, 1],
  [
    'some projects',
    [project(2), project(3), project(2)],
    `project_id in ('${project(2)}', '${project(3)}')`,
    2,
  ],
] as const;
const PERIODS = [
  [null, null],
  ['2026-01-30', '2026-01-31'],
  ['2026-01-31', '2026-02-01'],
  ['2026-01-31', null],
  [null, '2026-01-31'],
] as const;
type Period = (typeof PERIODS)[number];
const OPEN = PERIODS[0];

/** Keeps its plans. */
let session: DataSource;
/** Makes a database for a `describe` block: statistics of one block would change the plans of another. */
function useSession(): void {
  const database = useDatabase({ poolSize: 1 });
  beforeAll(async () => {
    session = database.dataSource;
    // Pages that are all-visible are read from the index alone, and not counted.
    await session.query('alter table time_logs set (autovacuum_enabled = off)');
  });
}

describe.each([
  ['whose counts wait', 'select'],
  ['whose counts are folded', 'select fold_time_log_counts(10000)'],
])('a page that begins in the midst of a crowded day, %s', (_what, fold) => {
  useSession();
  beforeAll(async () => {
    await session.query(SEED);
    await session.query(fold);
  });

  /** The ids of a page, and how many logs PostgreSQL has read for it. */
  const page = async (scope: unknown, [from, to]: Period, skipped: number) =>
    session.transaction(async (manager) => {
      // Statistics of this session alone, which go on within a transaction.
      const readSoFar = async () => {
        const [stats] = await manager.query<[{ read: string }]>(
          `select seq_tup_read + idx_tup_fetch as read from pg_stat_xact_user_tables where relname = 'time_logs'`,
        );
        return Number(stats.read);
      };
      const before = await readSoFar();
      const rows = await manager.query<{ id: string | null }[]>(
        `select (log).id from page_time_logs($1, $2, $3, $4, ${PAGE_SIZE})`,
        [scope, from, to, skipped],
      );
      return { ids: rows.slice(1).map(({ id }) => id), read: (await readSoFar()) - before };
    });
  const idsOf = async (condition: string, [from, to]: Period) => {
    const rows = await session.query<{ id: string }[]>(
      `select id from time_logs
        where ${condition} and date between coalesce($1::date, '-infinity') and coalesce($2::date, 'infinity')
        order by date desc, id desc`,
      [from, to],
    );
    return rows.map(({ id }) => id);
  };

  it.each(SCOPES)('has the logs of its place, of %s', async (...[, scope, condition]) => {
    for (const period of PERIODS) {
      const all = await idsOf(condition, period);
      const half = Math.floor(all.length / 2);
      // The first 200 logs of one list are skipped in another way.
      const places = [0, 1, 2, 3, 4, 199, 200, 201, half, all.length - 3, all.length - 2, all.length - 1];
      for (const skipped of places) {
        const { ids } = await page(scope, period, skipped);
        expect(ids).toEqual(all.slice(skipped, skipped + PAGE_SIZE));
      }
    }
  });

  it.each(SCOPES)(
    'steps over the logs from the nearer end of the day, of %s',
    async (_scope, scope, condition, projects) => {
      const { length } = await idsOf(condition, OPEN);
      const read = async (skipped: number) => (await page(scope, OPEN, skipped)).read;
      // For several projects, a page of each is read, each of its logs is fetched, and a guess leaves some 1,000 logs.
      const own = 6 * PAGE_SIZE + (projects > 1 ? 2_000 : 0);
      expect(await read(PAGE_SIZE)).toBeLessThan(own);
      expect(await read(length - PAGE_SIZE)).toBeLessThan(own);
      for (const [place, nearerEnd] of [
        [0.3, 0.3],
        [0.5, 0.5],
        [0.7, 0.3],
      ] as const) {
        const found = await read(Math.floor(place * length));
        expect(found).toBeGreaterThan(nearerEnd * length - own);
        expect(found).toBeLessThan(projects * nearerEnd * length + own);
      }
    },
  );
});

describe('what a page costs', () => {
  useSession();
  beforeEach(() => session.query('truncate time_logs'));

  /** Logs of the first project, but for one in so many: these are of the second. */
  const insert = (first: number, last: number, day: string, ofSecond = last + 1) =>
    session.query(
      `insert into time_logs (id, project_id, duration, description, date)
       select ('019c1370-4e1b-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid,
              (case when n % ${ofSecond} = 0 then '${project(2)}' else '${project(1)}' end)::uuid, 1, '', ${day}
         from generate_series(${first}, ${last}) n`,
    );
  const ASKED = [
    [null, 50],
    [[project(1)], 50],
    [[project(1), project(2)], 300],
  ] as const;
  /** How many pages of tables and indexes are read for a page of logs. */
  const pagesReadFor = async (scope: unknown, period: Period, skipped: number) => {
    const [{ 'QUERY PLAN': plans }] = await session.query<
      [{ 'QUERY PLAN': [{ Plan: Record<'Shared Hit Blocks' | 'Shared Read Blocks', number> }] }]
    >(`explain (analyze, buffers, format json) select from page_time_logs($1, $2, $3, $4, 50)`, [
      scope,
      ...period,
      skipped,
    ]);
    const [{ Plan: plan }] = plans;
    return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
  };

  it('does not depend on how few logs there were when PostgreSQL planned it', async () => {
    await insert(1, 600, `'2026-01-31'`, 300);
    await session.query('analyze time_logs');
    for (const [scope] of ASKED)
      for (const skipped of [1, 300, 599]) await pagesReadFor(scope, OPEN, skipped);
    const later = 40_000;
    await insert(601, 600 + later, `'2026-02-01'`, 2);
    // With several projects, each log of the page is fetched by its id.
    for (const [scope, most] of ASKED) {
      const newer = scope?.length === 1 ? later / 2 : later;
      for (const skipped of [200, newer + 1, newer + 300, newer + 590]) {
        const read = () => pagesReadFor(scope, OPEN, skipped);
        // The first call in a session also reads the catalog.
        await read();
        expect(await read()).toBeLessThan(most);
      }
    }
  });
});
