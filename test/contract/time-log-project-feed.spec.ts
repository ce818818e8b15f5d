import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import {
  FeedService,
  TimeLogDeletions,
  type TimeLogEvent,
  TypeOrmFeedRepository,
} from '../../src/feed/index.js';
import { Database } from '../../src/database/index.js';
import { useDatabase } from '../support/storage.js';

const [OWN, FOREIGN, OTHER] = [randomUUID(), randomUUID(), randomUUID()];
const TOMORROW = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
const TOKEN = /^[\w-]{64}$/;
const END = /^\d+-ffffffff-ffff-ffff-ffff-fffffffffff[ef]$/;
const logId = (n: number) => `019c1370-4e1b-7000-8000-${String(n).padStart(12, '0')}`;

describe('the feed of some projects', () => {
  const database = useDatabase();
  const sql = (text: string, values: unknown[] = []) => database.dataSource.query<unknown[]>(text, values);
  afterEach(() => sql('truncate time_logs; truncate time_log_deletions; truncate time_log_departures'));

  const insert = (from: number, to: number, project = FOREIGN) =>
    sql(
      `insert into time_logs (id, project_id, duration, description, date)
       select ('019c1370-4e1b-7000-8000-' || lpad(n::text, 12, '0'))::uuid, $1, 1, '', '2026-01-31' from generate_series($2::int, $3) n`,
      [project, from, to],
    );
  const move = (id: number, project: string) =>
    sql('update time_logs set project_id = $2 where id = $1', [logId(id), project]);
  const feedOf = (look?: number) => new TypeOrmFeedRepository(database.repository, look);
  const summaryOf = ({ type, log }: TimeLogEvent) => `${type} ${Number(log.id.slice(-12))}`;
  /** Reads to the end, and returns the events and the places between. */
  async function read(projects: string[], start?: string, look?: number, limit = 1000) {
    const [events, places]: [string[], string[]] = [[], []];
    for (let place = start; ;) {
      const page = await feedOf(look).eventsOfProjects(projects, place, limit);
      events.push(...page.events.map(summaryOf));
      place = page.next;
      if (page.isLast) return { events, places, end: page.next };
      places.push(page.next!);
    }
  }
  const expectEvents = (expected: readonly string[], ...query: Parameters<typeof read>) =>
    eventually(async () => {
      const found = await read(...query);
      expect(found.events).toEqual(expected);
      return found;
    });

  it('passes a load of others that shares one position, at places that hold none of them', async () => {
    await insert(1, 25_000);
    await sql(
      `begin; alter table time_logs disable trigger zz_publish_correction;
       update time_logs set project_id = '${OWN}' where id = '${logId(15_000)}';
       alter table time_logs enable trigger zz_publish_correction; commit`,
    );
    const { places, end } = await expectEvents(['created 15000'], [OWN]);
    expect(places).toHaveLength(2);
    for (const place of places) {
      expect(place).toMatch(TOKEN);
      expect(Buffer.from(place, 'base64url').toString('hex')).not.toContain('019c13704e1b');
    }
    expect(end).toMatch(END);
    for (const place of places.slice(0, 1)) await expectEvents(['created 15000'], [OWN], place);
    await expectEvents([], [OWN], places[1]);
  });

  it('leads further than its last event from a short page that is not the last', async () => {
    await insert(1, 1);
    await insert(2, 3, OWN);
    const { places } = await expectEvents(['created 2', 'created 3'], [OWN], undefined, 2, 100);
    expect(places).toEqual([expect.stringMatching(TOKEN)]);
    // A host gets no empty page before the end.
    const following = await new FeedService(feedOf(1)).events(undefined, 1, { projectIds: [OWN] });
    expect(following.map(summaryOf)).toEqual(['created 2']);
  });

  it.each([1, 2, 1000])(
    'goes on behind the mark, whatever becomes of logs of others: looks at %s',
    async (look) => {
      await insert(1, 6);
      await move(3, OWN);
      await move(6, OWN);
      await sql('delete from time_logs where id = $1', [logId(1)]);
      await expectEvents(['corrected 3', 'corrected 6'], [OWN]);
      await eventually(async () =>
        expect(await new TimeLogDeletions(new Database(database.dataSource)).forget(TOMORROW)).toBe(3),
      );
      const { places } = await expectEvents(['corrected 3', 'corrected 6'], [OWN], undefined, look, 1);
      expect(places.filter((place) => place.includes(logId(2)))).toEqual([]);
      await sql('update time_logs set duration = 2 where project_id = $1', [FOREIGN]);
      for (const place of places) {
        const { events } = await eventually(() => read([OWN], place, look, 1));
        expect(['corrected 3', 'corrected 6'].slice(-events.length || 2)).toEqual(events);
      }
      await sql('truncate time_logs');
      for (const place of places)
        await expect(read([OWN], place, look, 1)).rejects.toMatchObject({ code: 'GONE' });
    },
  );

  it('has one event for a log that has left a project, and none for a project that it only passed', async () => {
    await insert(1, 2, OWN);
    const { end } = await expectEvents(['created 1', 'created 2'], [OWN]);
    await database.dataSource.transaction(async (manager) => {
      for (const project of [FOREIGN, OTHER])
        await manager.query('update time_logs set project_id = $1', [project]);
      await manager.query('delete from time_logs where id = $1', [logId(2)]);
    });
    await expectEvents(['deleted 1', 'deleted 2'], [OWN], end);
    await expectEvents(['corrected 1', 'deleted 2'], [OWN, OTHER], end);
    await expectEvents(['corrected 1', 'deleted 2'], [OTHER], end);
    await expectEvents([], [FOREIGN]);
    // Later corrections keep it, and a reader of all projects does not see it.
    await sql('update time_logs set duration = 2');
    await expectEvents(['deleted 1', 'deleted 2'], [OWN], end);
    expect((await database.feed.eventsAfter(undefined, 10)).map(summaryOf)).toEqual([
      'deleted 2',
      'corrected 1',
    ]);
  });

  it('sends those back whose place was made with another key', async () => {
    await insert(1, 3);
    const { places } = await eventually(async () => {
      const found = await read([OWN], undefined, 2);
      expect(found.places).toHaveLength(1);
      return found;
    });
    const key = `obj_description('time_log_cursor_key()'::regprocedure, 'pg_proc')`;
    const [row] = (await sql(`select ${key} as text`)) as [{ text: string }];
    await sql(`comment on function time_log_cursor_key() is 'another'`);
    await expect(read([OWN], places[0], 2)).rejects.toMatchObject({ code: 'GONE' });
    await sql('comment on function time_log_cursor_key() is null');
    await expect(read([OWN], places[0], 2)).rejects.toThrow('comment on it with a long random text');
    await sql(`comment on function time_log_cursor_key() is '${row.text}'`);
    await expectEvents([], [OWN], places[0], 2);
  });
});
