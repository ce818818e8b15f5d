import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { eventually } from '../support/eventually.js';
import { timesOf } from '../support/extent.js';
import { Database } from '../../src/database/index.js';
import { keepTimeLogPositions } from '../../src/feed/infrastructure/keep-time-log-positions.js';
import { TimeLog } from '../../src/time-log/index.js';
import { TimeLogDeletions, TypeOrmFeedRepository } from '../../src/feed/index.js';
import { useDatabase } from '../support/storage.js';

const PROJECTS = [randomUUID(), randomUUID(), randomUUID()].sort();
const [A, B, C] = PROJECTS as [string, string, string];
const IDS = Array.from({ length: 5 }, (_id, index) => `019c1370-4e1b-7000-8000-00000000000${index}`);
const TOMORROW = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
const END = /^\d+-ffffffff-ffff-ffff-ffff-fffffffffff[ef]$/;

const id = fc.constantFrom(...IDS);
const project = fc.constantFrom(...PROJECTS);
const INSERT = 'insert into time_logs (id, project_id, duration, description, date)';
/** A statement, each with a log that may be there or not. */
const statement = fc.oneof(
  fc
    .tuple(id, project)
    .map(([one, to]) => `${INSERT} values ('${one}', '${to}', 1, '', '2026-01-31') on conflict do nothing`),
  fc.tuple(id, project).map(([one, to]) => `update time_logs set project_id = '${to}' where id = '${one}'`),
  fc.tuple(id, project).map(([one, to]) => `update time_logs set project_id = '${to}' where id = '${one}'`),
  project.map((to) => `update time_logs set project_id = '${to}', duration = duration + 1`),
  id.map((one) => `update time_logs set duration = duration + 1 where id = '${one}'`),
  id.map((one) => `update time_logs set position = default where id = '${one}'`),
  id.map((one) => `delete from time_logs where id = '${one}'`),
  fc
    .tuple(id, id, project)
    .map(
      ([one, to, into]) =>
        `update time_logs set id = '${to}', project_id = '${into}' where id = '${one}' and not exists (select from time_logs where id = '${to}')`,
    ),
);
const transaction = fc.tuple(
  fc.array(statement, { minLength: 1, maxLength: 4 }),
  fc.option(fc.array(statement, { minLength: 1, maxLength: 3 })),
);
const step = fc.oneof(
  { weight: 12, arbitrary: transaction },
  { weight: 6, arbitrary: fc.constant('read' as const) },
  { weight: 1, arbitrary: fc.constantFrom('forget', 'truncate', 'move') },
);
const sets = fc.constantFrom([A], [B], [A, B], [B, C], [A, B, C]);
const reader = fc.record({
  projects: sets,
  limit: fc.integer({ min: 1, max: 3 }),
  look: fc.integer({ min: 1, max: 4 }),
});
type Steps = readonly (string | [string[], string[] | null])[];

describe('a consumer that applies the events of some projects', () => {
  const database = useDatabase();
  const sql = (text: string) => database.dataSource.query<{ id: string; row: string }[]>(text);
  afterEach(() => sql('truncate time_logs; truncate time_log_deletions'));

  /** A copy of the logs of some projects, which goes on by pages. */
  class Copy {
    readonly logs = new Map<string, string>();
    private place: string | undefined;
    private readonly feed;

    constructor(
      readonly projects: readonly string[],
      private readonly limit: number,
      look: number,
    ) {
      this.feed = new TypeOrmFeedRepository(database.repository, look);
    }

    /** Reads a page; returns whether it was the last. */
    async read(): Promise<boolean> {
      try {
        const { events, next, isLast } = await this.feed.eventsOfProjects(
          this.projects,
          this.place,
          this.limit,
        );
        for (const { log, type } of events) {
          expect(this.projects).toContain(log.projectId);
          expect(log instanceof TimeLog).toBe(type !== 'deleted');
          if (log instanceof TimeLog) this.logs.set(log.id, `${log.projectId} ${log.duration}`);
          else this.logs.delete(log.id);
        }
        if (!/^[\w-]{64}$/.test(next!) && !END.test(next!) && next !== this.place)
          expect(next).toBe(events.at(-1)!.id);
        this.place = next;
        return isLast;
      } catch (error) {
        if ((error as { code?: string }).code !== 'GONE' || this.place === undefined) throw error;
        this.place = undefined;
        this.logs.clear();
        return false;
      }
    }
  }

  async function take(
    steps: Steps,
    readers: readonly { projects: readonly string[]; limit: number; look: number }[],
  ): Promise<void> {
    await sql('truncate time_logs; truncate time_log_deletions; truncate time_log_departures');
    const copies = readers.map(({ projects, limit, look }) => new Copy(projects, limit, look));
    for (const taken of steps) {
      if (taken === 'read') for (const copy of copies) await copy.read();
      else if (taken === 'truncate') await sql('truncate time_logs');
      else if (taken === 'forget')
        await new TimeLogDeletions(new Database(database.dataSource)).forget(TOMORROW);
      else if (taken === 'move')
        await database.dataSource.transaction(({ queryRunner }) => keepTimeLogPositions(queryRunner!));
      else {
        const [kept, undone] = taken as [string[], string[] | null];
        const [first, ...rest] = kept;
        const part = undone === null ? [] : ['savepoint part', ...undone, 'rollback to part'];
        await sql(['begin', first, ...part, ...rest, 'commit'].join('; '));
      }
    }
    const rows = await sql(`select id, project_id || ' ' || duration as row from time_logs order by id`);
    for (const copy of copies)
      await eventually(async () => {
        while (!(await copy.read()));
        const expected = rows.filter(({ row }) => copy.projects.includes(row.slice(0, 36)));
        expect(copy.logs).toEqual(new Map(expected.map(({ id: log, row }) => [log, row])));
      });
  }

  const property = fc.asyncProperty(
    fc.array(step, { minLength: 5, maxLength: 20 }),
    fc.array(reader, { minLength: 3, maxLength: 3 }),
    take,
  );

  it('has the logs of these projects, whatever SQL does to them', async () => {
    await fc.assert(property, { numRuns: timesOf(500, 20), endOnFailure: true, includeErrorInReport: true });
  });
});
