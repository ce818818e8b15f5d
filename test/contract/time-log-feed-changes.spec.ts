import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import {
  parseEventId,
  TimeLogDeletions,
  type TimeLogEvent,
  type TypeOrmFeedRepository,
} from '../../src/feed/index.js';
import {
  OldTimeLogs,
  TimeLog,
  TimeLogCountsCheck,
  type TypeOrmTimeLogRepository,
} from '../../src/time-log/index.js';
import { Database } from '../../src/database/index.js';
import type { DataSource } from 'typeorm';
import { keepTimeLogPositions } from '../../src/feed/infrastructure/keep-time-log-positions.js';
import { ALL_PROJECTS, useDatabase } from '../support/storage.js';

const [PROJECT, OTHER] = [randomUUID(), randomUUID()];
const GONE = {
  code: 'GONE',
  status: 410,
  message: 'the feed no longer reaches back to this event: start again with an empty copy',
};
/** The first day of which none of a test is. */
const TOMORROW = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);

type Sql = Pick<DataSource, 'query'>;

// SQL changes logs here, in one way each; test/contract/time-log-project-feed.property.spec.ts mixes all of them.
describe('the feed publishes changes by SQL', () => {
  const database = useDatabase({}, [beforeEach, afterEach]);
  let dataSource: DataSource;
  let repository: TypeOrmTimeLogRepository;
  let feed: TypeOrmFeedRepository;
  let lastId: number;
  beforeEach(() => {
    lastId = 0;
    ({ dataSource, repository, feed } = database);
  });

  const newId = () => `019c1370-4e1b-7000-8000-${String(++lastId).padStart(12, '0')}`;
  const write = async (sql: Sql = dataSource, id = newId(), date = '2026-01-31') => {
    await sql.query(
      `insert into time_logs (id, project_id, duration, description, date) values ($1, $2, 1, '', $3)`,
      [id, PROJECT, date],
    );
    return id;
  };
  const set = (values: string, id: string, sql: Sql = dataSource) =>
    sql.query(`update time_logs set ${values} where id = $1`, [id]);
  const remove = (id: string, sql: Sql = dataSource) =>
    sql.query('delete from time_logs where id = $1', [id]);
  const within = (act: (sql: Sql) => Promise<unknown>) => dataSource.transaction(act);

  const summaryOf = ({ type, log }: TimeLogEvent) => `${type} ${Number(log.id.slice(-12))}`;
  /** Reads the events after a place, in pages of a size. */
  async function after(id: string | undefined, limit = 1000): Promise<TimeLogEvent[]> {
    const all: TimeLogEvent[] = [];
    for (let last = id; ; last = all.at(-1)!.id) {
      const page = await feed.eventsAfter(last === undefined ? undefined : parseEventId(last), limit);
      if (page.length === 0) return all;
      all.push(...page);
    }
  }
  /** The same as soon as the feed has a log of now: transactions of other tests may delay it. */
  async function settled(id?: string, limit?: number): Promise<TimeLogEvent[]> {
    const last = await write(dataSource, '019c1370-4e1b-7000-8000-999999999999');
    await eventually(async () => expect((await after(undefined)).map(({ log }) => log.id)).toContain(last));
    const events = await after(id, limit);
    await dataSource.query(
      `begin; alter table time_logs disable trigger user; delete from time_logs where id = '${last}';
       alter table time_logs enable trigger user; commit`,
    );
    return events.filter(({ log }) => log.id !== last);
  }
  /** Expects that a reader at these events must start again. */
  const expectGone = async (events: readonly { readonly id: string }[]) => {
    for (const { id } of events)
      await expect(feed.eventsAfter(parseEventId(id), 1)).rejects.toMatchObject(GONE);
  };
  const expectEvents = async (expected: readonly string[], id?: string, limit?: number) => {
    const events = await settled(id, limit);
    expect(events.map(summaryOf)).toEqual(expected);
    return events;
  };

  it('to one log and to many at once: they move to the end, with their new values and the time of the change', async () => {
    const ids = [await write(), await write(), await write()];
    const before = await expectEvents(['created 1', 'created 2', 'created 3']);
    await set('duration = 1.5', ids[1]!);
    const [, , corrected] = await expectEvents(['created 1', 'created 3', 'corrected 2']);
    expect(corrected!.log).toEqual(await repository.get(ids[1]!, ALL_PROJECTS));
    expect(corrected!.log).toMatchObject({ id: ids[1], duration: 1.5 });
    expect(corrected!.time.getTime()).toBeGreaterThan(before.at(-1)!.time.getTime());
    await dataSource.query(`update time_logs set project_id = $1, date = '2026-02-01', description = 'x'`, [
      OTHER,
    ]);
    const after = await expectEvents(['corrected 1', 'corrected 2', 'corrected 3']);
    expect(after.map(({ log }) => log.projectId)).toEqual([OTHER, OTHER, OTHER]);
    await expectEvents(after.map(summaryOf), before.at(-1)!.id);
  });

  it.each([
    'duration = duration',
    'duration = 1.0, description = description',
    `corrected_at = now()`,
    `date = '2026-01-31', project_id = upper(project_id::text)::uuid`,
  ])('and nothing where nothing changes: %s', async (values) => {
    const id = await write();
    const [event] = await expectEvents(['created 1']);
    await set(values, id);
    expect(await settled()).toEqual([event]);
  });

  it('as created where it is recorded and corrected in one transaction', async () => {
    const id = newId();
    await within(async (runner) => {
      await write(runner, id);
      await set('duration = 2', id, runner);
      await runner.query('savepoint part');
      await set('duration = 3', id, runner);
    });
    const [event] = await expectEvents(['created 1']);
    expect(event!.log).toMatchObject({ duration: 3 });
    await within(async (runner) => {
      await set('duration = 4', id, runner);
      await set('duration = 5', id, runner);
    });
    await expectEvents(['corrected 1'], event!.id);
  });

  it('after what a trigger of a host makes of it', async () => {
    await dataSource.query(
      `create function trim_it() returns trigger language plpgsql as
         'begin new.description := trim(new.description); return new; end';
       create trigger trim_it before update on time_logs for each row execute function trim_it()`,
    );
    const id = await write();
    await set(`description = '  '`, id);
    await expectEvents(['created 1']);
    await set(`description = ' x '`, id);
    const [event] = await expectEvents(['corrected 1']);
    expect(event!.log).toMatchObject({ description: 'x' });
  });

  it('where it deletes: id, last project and time are left', async () => {
    const ids = [await write(), await write(), await write()];
    const before = await expectEvents(['created 1', 'created 2', 'created 3']);
    await set(`project_id = '${OTHER}'`, ids[2]!);
    await dataSource.query('delete from time_logs where id <> $1', [ids[0]]);
    const [, second, third] = await expectEvents(['created 1', 'deleted 2', 'deleted 3']);
    expect([second!.log, third!.log]).toEqual([
      { id: ids[1], projectId: PROJECT },
      { id: ids[2], projectId: OTHER },
    ]);
    expect(second!.log).not.toBeInstanceOf(TimeLog);
    expect(second!.time.getTime()).toBeGreaterThan(before.at(-1)!.time.getTime());
    await expectEvents(['deleted 2', 'deleted 3'], before.at(-1)!.id, 1);
    await remove(ids[2]!);
    await write(dataSource, ids[2]);
    await remove(ids[2]!);
    await expectEvents(['deleted 3'], third!.id);
  });

  it('where it deletes a log and stores it again in one transaction: the log wins', async () => {
    const id = await write();
    const [before] = await expectEvents(['created 1']);
    await within(async (runner) => {
      await remove(id, runner);
      await write(runner, id);
    });
    await expectEvents(['created 1']);
    await expectEvents(['created 1'], before!.id);
    // The id of that event is never that of a deletion.
    await set('duration = 2', id);
    await expectEvents(['corrected 1'], before!.id);
    await within(async (runner) => {
      for (const project of [PROJECT, OTHER]) {
        await remove(id, runner);
        await write(runner, id);
        await set(`project_id = '${project}'`, id, runner);
      }
      await remove(id, runner);
    });
    const [deletion] = await expectEvents(['deleted 1']);
    expect(deletion!.log.projectId).toBe(OTHER);
  });

  it('to many logs at one place, page by page: each once', async () => {
    const ids = Array.from({ length: 30 }, newId);
    await within(async (runner) => {
      for (const id of ids) await write(runner, id);
    });
    const before = await settled();
    expect(before).toHaveLength(30);
    await within(async (runner) => {
      await runner.query('delete from time_logs');
      for (const id of ids.filter((_id, index) => index % 3 > 0)) await write(runner, id);
    });
    const expected = ids.map((_id, index) => `${index % 3 > 0 ? 'created' : 'deleted'} ${index + 1}`);
    for (const limit of [1, 2, 7, 1000]) await expectEvents(expected, before.at(-1)!.id, limit);
    await expectEvents(expected, undefined, 7);
  });

  it('to more logs than it takes at once', async () => {
    const count = 100_001;
    await dataSource.query(
      `insert into time_logs (id, project_id, duration, description, date)
       select ('019c1370-4e1b-7000-8000-' || lpad(n::text, 12, '0'))::uuid, $1, 1, '', '2026-01-31' from generate_series(1, $2) n`,
      [PROJECT, count],
    );
    await dataSource.query('delete from time_logs');
    expect(
      await dataSource.query(
        'select count(*)::int as count, count(distinct id)::int as ids from time_log_deletions',
      ),
    ).toEqual([{ count, ids: count }]);
  });

  it.each(['REPEATABLE READ', 'SERIALIZABLE'])(
    'in a %s transaction whose snapshot is older than a move of positions: it comes after it',
    async (isolation) => {
      // In years of their own: counts of others cannot be changed in an older snapshot.
      const corrected = await write(dataSource, newId(), '1801-01-01');
      const deleted = await write(dataSource, newId(), '1901-01-01');
      const late = dataSource.createQueryRunner();
      // Its session has plans for the triggers.
      await set('duration = 2', corrected, late);
      await late.query(`begin isolation level ${isolation}`);
      await late.query('select from access_tokens');
      await dataSource.transaction(({ queryRunner }) => keepTimeLogPositions(queryRunner!));
      await write();
      const place = (await settled()).at(-1)!;
      await set('duration = 3', corrected, late);
      await remove(deleted, late);
      await write(late, newId(), '2001-01-01');
      await late.query('commit');
      await late.release();
      await expectEvents(['corrected 1', 'deleted 2', 'created 4'], place.id);
      await expectEvents(['created 3', 'corrected 1', 'deleted 2', 'created 4']);
    },
  );

  describe('and TRUNCATE, for which it has no events:', () => {
    it('a reader from before starts again', async () => {
      await write();
      await remove(await write());
      const [first, last] = await expectEvents(['created 1', 'deleted 2']);
      await dataSource.query('truncate time_logs');
      await expectGone([first!, last!, { id: `0-${newId()}` }]);
      expect(await feed.eventsAfter(undefined, 1)).toEqual([]);
      const id = await write();
      const [event] = await expectEvents(['created 4']);
      await set('duration = 2', id);
      await expectEvents(['corrected 4'], event!.id);
    });

    it('a transaction that began before it, and writes after it, hides nothing', async () => {
      const early = await database.transaction();
      await early.query('select pg_current_xact_id()');
      await dataSource.query('truncate time_logs');
      await write(early);
      const late = await write();
      expect(await feed.eventsAfter(undefined, 10)).toEqual([]);
      await early.commitTransaction();
      await expectEvents(['created 1', 'created 2'], undefined, 1);
      await remove(late);
      await expectEvents(['created 1', 'deleted 2'], undefined, 1);
    });

    it('logs of its own transaction are published', async () => {
      await write();
      await within(async (runner) => {
        await runner.query('truncate time_logs');
        await write(runner);
        await runner.query('truncate time_logs');
        for (let n = 0; n < 3; n++) await write(runner);
      });
      await expectEvents(['created 3', 'created 4', 'created 5'], undefined, 1);
    });
  });

  describe('until deletions are forgotten:', () => {
    const forget = async (before = TOMORROW) => new TimeLogDeletions(new Database(dataSource)).forget(before);
    /** Forgets so many, as soon as transactions of others let them be final: autovacuum has some. */
    const forgets = async (count: number) => {
      let forgotten = 0;
      await eventually(async () => expect((forgotten += await forget())).toBe(count));
    };

    it('a reader that lacks them starts again, all others go on, and so does a new reader, page by page', async () => {
      const ids = [await write(), await write(), await write()];
      const before = await expectEvents(['created 1', 'created 2', 'created 3']);
      await remove(ids[1]!);
      const deletion = (await expectEvents(['created 1', 'created 3', 'deleted 2'])).at(-1)!;
      expect(await forget(new Date().toISOString().slice(0, 10))).toBe(0);
      await forgets(1);
      await expectGone(before);
      await expectEvents([], deletion.id);
      await write();
      await expectEvents(['created 4'], deletion.id);
      for (const limit of [1, 2, 3, 1000])
        await expectEvents(['created 1', 'created 3', 'created 4'], undefined, limit);
      // Again, after deletions that one who has begun since may not miss either.
      const [first] = await expectEvents(['created 1', 'created 3', 'created 4']);
      await remove(ids[2]!);
      await expectEvents(['deleted 3'], (await settled()).at(-2)!.id);
      await expectEvents(['created 4', 'deleted 3'], first!.id, 1);
      await forgets(1);
      await expectGone([first!]);
      for (const limit of [1, 1000]) await expectEvents(['created 1', 'created 4'], undefined, limit);
      expect(await forget()).toBe(0);
    });

    it('the newest goes too, where nobody writes after it', async () => {
      await remove(await write());
      await forgets(1);
    });

    it('one right after the mark stays: a reader that is there at an earlier log misses nothing', async () => {
      const ids = [await write(), await write(), await write(), await write()];
      await remove(ids[1]!);
      await remove(ids[0]!);
      await dataSource.query(
        `update time_log_deletions set deleted_at = deleted_at - interval '2 days' where id = $1`,
        [ids[1]],
      );
      await dataSource.query(
        `update time_log_deletions set position = 1 + (select position from time_log_deletions where id = $1) where id = $2`,
        [ids[1], ids[0]],
      );
      await settled();
      expect(await forget(new Date().toISOString().slice(0, 10))).toBe(1);
      const [first] = await expectEvents(['created 3', 'created 4', 'deleted 1'], undefined, 1);
      expect(await forget()).toBe(0);
      await expectEvents(['created 4', 'deleted 1'], first!.id, 1);
    });

    it('of one transaction those are kept that another place follows', async () => {
      const ids = Array.from({ length: 4 }, newId);
      for (const id of ids) await write(dataSource, id);
      await within((runner) => runner.query('delete from time_logs'));
      const events = await expectEvents(ids.map((_id, index) => `deleted ${index + 1}`));
      await dataSource.query(
        `update time_log_deletions set deleted_at = deleted_at - interval '2 days' where id <= $1`,
        [ids[1]],
      );
      expect(await forget(new Date().toISOString().slice(0, 10))).toBe(2);
      await expectGone([events[0]!]);
      await expectEvents(['deleted 3', 'deleted 4'], events[1]!.id, 1);
      await expectEvents(['deleted 3', 'deleted 4'], undefined, 1);
    });
  });

  describe('and if logs before a day are dropped,', () => {
    const old = (id = newId(), sql: Sql = dataSource) => write(sql, id, '2019-12-31');
    const drop = (
      publishes = false,
      onProgress: (sum: number) => void = () => undefined,
      stop?: AbortSignal,
    ) =>
      new OldTimeLogs(dataSource, 2).drop('2020-01-01', {
        publishes,
        onProgress,
        signal: stop ?? new AbortController().signal,
      });
    const ids = async () =>
      (await dataSource.query<{ id: string }[]>('select id from time_logs order by id')).map(({ id }) => id);
    const rightCounts = async () => {
      const logs = (await ids()).length;
      expect(await new TimeLogCountsCheck(new Database(dataSource)).verify()).toEqual({ logs, wrong: 0 });
    };

    it('there are no events: a reader that has read them starts again, and goes on from there', async () => {
      const kept = [await write(), await write()];
      for (let left = 5; left > 0; left--) await old();
      await remove(await write());
      const before = await expectEvents([1, 2, 3, 4, 5, 6, 7].map((n) => `created ${n}`).concat('deleted 8'));
      expect(await drop()).toBe(5);
      expect(await ids()).toEqual(kept);
      await expectGone(before);
      const [first] = await expectEvents(['created 1', 'created 2'], undefined, 1);
      await remove(kept[1]!);
      await expectEvents(['deleted 2'], first!.id);
      expect(await dataSource.query('select from time_log_deletions where project_id is not null')).toEqual([
        {},
      ]);
    });

    it('a reader that starts again meanwhile gets nothing before the end, and so starts again once', async () => {
      await write();
      for (let left = 4; left > 0; left--) await old();
      const [place] = await expectEvents(['created 1', 'created 2', 'created 3', 'created 4', 'created 5']);
      const begin = async () => {
        const runner = await database.transaction();
        const [row] = (await runner.query('select pg_current_xact_id() as number')) as [{ number: string }];
        return { runner, number: row.number };
      };
      const dropTwo = async ({ runner }: Awaited<ReturnType<typeof begin>>, following: string) => {
        await runner.query(
          `select drop_time_logs('2020-01-01', '0001-01-01', '00000000-0000-0000-0000-000000000000', 2, $1)`,
          [following],
        );
        await runner.commitTransaction();
      };
      const [one, two] = [await begin(), await begin()];
      await dropTwo(one, two.number);
      await expectGone([place!]);
      expect(await feed.eventsAfter(undefined, 10)).toEqual([]);
      const three = await begin();
      await dropTwo(two, three.number);
      expect(await feed.eventsAfter(undefined, 10)).toEqual([]);
      await three.runner.rollbackTransaction();
      // On a server where nobody writes: nothing else has to happen.
      await eventually(async () =>
        expect((await feed.eventsAfter(undefined, 10)).map(summaryOf)).toEqual(['created 1']),
      );
    });

    it('it can be interrupted, and run again', async () => {
      const kept = await write();
      for (let left = 7; left > 0; left--) await old();
      const stop = new AbortController();
      await expect(drop(false, () => stop.abort(), stop.signal)).rejects.toThrow('aborted');
      expect((await ids()).length).toBe(6);
      await rightCounts();
      await expectEvents(['created 1', ...[4, 5, 6, 7, 8].map((n) => `created ${n}`)]);
      expect(await drop()).toBe(5);
      expect(await ids()).toEqual([kept]);
      await expectEvents(['created 1']);
    });

    it('those that others hold are left, and so are those that they move to a later day', async () => {
      const [held, moved] = [await old(), await old()];
      for (let left = 3; left > 0; left--) await old();
      const holder = await database.transaction();
      await set('duration = 2', held, holder);
      await set(`date = '2020-01-01'`, moved, holder);
      expect(await drop()).toBe(3);
      expect(await new OldTimeLogs(dataSource).count('2020-01-01')).toBe(2);
      await holder.commitTransaction();
      expect(await drop()).toBe(1);
      expect(await ids()).toEqual([moved]);
      await rightCounts();
      await expectEvents(['corrected 2']);
    });

    it('each has an event if that is requested', async () => {
      const kept = await write();
      for (let left = 3; left > 0; left--) await old();
      const events = await expectEvents(['created 1', 'created 2', 'created 3', 'created 4']);
      expect(await drop(true)).toBe(3);
      expect(await ids()).toEqual([kept]);
      await expectEvents(['deleted 2', 'deleted 3', 'deleted 4'], events.at(-1)!.id);
    });

    it('no reader starts again if there are none', async () => {
      await write();
      const [event] = await expectEvents(['created 1']);
      expect(await drop()).toBe(0);
      await expectEvents([], event!.id);
    });

    it('what a host refers to is not dropped', async () => {
      await dataSource.query('create table invoices (log uuid references time_logs)');
      await dataSource.query('insert into invoices values ($1)', [await old()]);
      const [event] = await expectEvents(['created 1']);
      await expect(drop()).rejects.toThrow(/violates foreign key constraint .* on table "invoices"/);
      await expectEvents([], event!.id);
    });
  });

  it('and how much comes after a place, with the instant of the first', async () => {
    const [id, gone] = [await write(), await write()];
    const [first, second] = await expectEvents(['created 1', 'created 2']);
    expect(await feed.backlog(parseEventId(first!.id), 10)).toEqual({ events: 1, oldest: second!.time });
    await remove(gone);
    await set('duration = 2', id);
    const [deletion, correction] = await expectEvents(['deleted 2', 'corrected 1'], second!.id);
    const place = parseEventId(second!.id);
    expect(await feed.backlog(place, 10)).toEqual({ events: 2, oldest: deletion!.time });
    expect(await feed.backlog(place, 1)).toEqual({ events: 1, oldest: deletion!.time });
    expect(await feed.backlog(parseEventId(deletion!.id), 10)).toEqual({
      events: 1,
      oldest: correction!.time,
    });
    await dataSource.query('truncate time_logs');
    expect(await feed.backlog(parseEventId(correction!.id), 10)).toEqual({ events: 0, oldest: undefined });
  });
});
