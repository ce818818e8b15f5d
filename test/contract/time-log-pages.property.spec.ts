import { randomUUID } from 'node:crypto';
import { beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  PageRequest,
  type TimeLogAccess,
  type TimeLogFilter,
  TypeOrmTimeLogRepository,
} from '../../src/time-log/index.js';
import { anyAccessTo, anyFilterOf, dayOf, LAST, numberOf } from './any-filter.js';
import { timesOf } from '../support/extent.js';
import { Database } from '../../src/database/index.js';
import type { DataSource } from 'typeorm';
import { LONG_QUEUE_LIMITS, newIds, useDatabase, whileRepeating } from '../support/storage.js';

const RUNS = timesOf(1_000, 60);
const PROJECTS = [randomUUID(), randomUUID(), randomUUID()];
const ids = newIds();
const NOW = numberOf('2026-01-01');

/** A crowded week, a few years around it, and all days there are; their first and last are likely. */
const anyDay = fc
  .oneof(
    fc.integer({ min: NOW, max: NOW + 6 }),
    fc.integer({ min: NOW - 1_500, max: NOW + 1_500 }),
    fc.integer({ min: 0, max: LAST }),
    fc.constantFrom(0, 30, 31, 3_286, 3_287, LAST - 1, LAST),
  )
  .map(dayOf);
const anyProject = fc.constantFrom(...PROJECTS);

const anyFilter = anyFilterOf(PROJECTS, anyDay);
const anyAccess = anyAccessTo(PROJECTS);

/** A page by where it lies in what there is: 0 is the first, 1 the last, and beyond is past the end. */
const anyPlace = fc.record({
  limit: fc.oneof(fc.integer({ min: 1, max: 7 }), fc.constantFrom(50, 1000)),
  place: fc.oneof(fc.constantFrom(0, 1), fc.double({ min: 0, max: 1.2, noNaN: true })),
});

/** Uses one connection, so that a transaction spans all queries. */
const database = useDatabase({ poolSize: 1 });
let reading: DataSource;
let writing: DataSource;
let repository: TypeOrmTimeLogRepository;

beforeAll(async () => {
  reading = database.dataSource;
  writing = await database.open({ poolSize: 5 });
  // To tidy up, it would end the transaction.
  const tidied = () => Promise.resolve([{ folded: 0 }]);
  repository = new TypeOrmTimeLogRepository(
    Object.assign(new Database(reading), { change: tidied }),
    LONG_QUEUE_LIMITS,
  );
});

async function insert(days: readonly string[], projects: readonly string[]): Promise<void> {
  await writing.query(
    `insert into time_logs (id, project_id, duration, description, date)
     select id, project_id, 1, '', date from unnest($1::uuid[], $2::uuid[], $3::date[]) as log (id, project_id, date)`,
    [days.map(() => ids.next()), days.map((_, index) => projects[index % projects.length]), days],
  );
}

const anyChange = fc.record({
  days: fc.array(anyDay, { minLength: 1, maxLength: 40 }),
  projects: fc.uniqueArray(anyProject, { minLength: 1 }),
  kind: fc.constantFrom('insert', 'insert', 'insert', 'move', 'delete'),
});
let changes = 0;

/** A random change. */
async function change(): Promise<void> {
  const { days, projects, kind } = fc.sample(anyChange, 1)[0]!;
  const some = `id in (select id from time_logs order by md5(id::text || $1::text) limit 20 for update skip locked)`;
  if (kind === 'insert') await insert(days, projects);
  else if (kind === 'move')
    await writing.query(`update time_logs set date = $1::date where ${some}`, [days[0]]);
  else await writing.query(`delete from time_logs where ${some}`, [days[0]]);
  changes++;
}

/** Returns the results of count(*) and offset. */
async function oracle(
  { projectIds, period }: TimeLogFilter,
  page: PageRequest,
  access: TimeLogAccess,
): Promise<{ total: number; ids: string[] }> {
  const matching = `from time_logs where ($1::uuid[] is null or project_id = any($1)) and ($4::uuid[] is null or project_id = any($4))
    and date >= coalesce($2::date, '-infinity') and date <= coalesce($3::date, 'infinity')`;
  const parameters = [projectIds, period.from, period.to, access.projects ?? null];
  const [{ total }] = await reading.query<[{ total: string }]>(
    `select count(*) as total ${matching}`,
    parameters,
  );
  const rows = await reading.query<{ id: string }[]>(
    `select id ${matching} order by date desc, id desc limit $5 offset $6`,
    [...parameters, page.limit, String(page.offset)],
  );
  return { total: Number(total), ids: rows.map(({ id }) => id) };
}

it('any page of any filter, within any access, is what count and offset say, while others write', async () => {
  // Most pages are after the first 200 logs, which are found without the counts.
  await insert(fc.sample(anyDay, 2_000), PROJECTS);
  let read = 0;
  const property = fc.asyncProperty(
    anyFilter,
    anyAccess,
    anyPlace,
    async (filter, access, { limit, place }) => {
      await reading.query('begin isolation level repeatable read');
      try {
        const { total } = await oracle(filter, PageRequest.of(1, 1), access);
        const page = PageRequest.of(1 + Math.floor((place * Math.max(0, total - 1)) / limit), limit);
        const found = await repository.find(filter, page, access);
        expect({ total: found.total, ids: found.logs.map(({ id }) => id) }).toEqual(
          await oracle(filter, page, access),
        );
        read += found.logs.length;
      } finally {
        await reading.query('commit');
      }
    },
  );
  const fold = () => writing.query('select fold_time_log_counts(50)');
  await whileRepeating([change, change, change, fold], async () => fc.assert(property, { numRuns: RUNS }));
  expect(changes).toBeGreaterThan(10);
  expect(read).toBeGreaterThan(2 * RUNS);
});
