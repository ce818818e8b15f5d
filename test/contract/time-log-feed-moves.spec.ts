import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import type { FeedCursor, TypeOrmFeedRepository } from '../../src/feed/index.js';
import type { DataSource } from 'typeorm';
import { keepTimeLogPositions } from '../../src/feed/infrastructure/keep-time-log-positions.js';
import type { TypeOrmTimeLogRepository } from '../../src/time-log/index.js';
import { repositoryOver, untilWaiting, useDatabase } from '../support/storage.js';

/** By how much positions move with the database. */
const RANGE = 2n ** 40n;
/** Positions that nobody gives out in an hour: the same files may be in use elsewhere. */
const HOUR = 3_600n * 2n ** 22n;
const NOTE = `obj_description('keep_time_log_positions()'::regprocedure, 'pg_proc')`;

// The tests write into the note of the last start what a start on another server, after a recovery or on a copy of the
// files would find. test/process/backup.e2e.ts, pg-dump.e2e.ts and test/lab/fleet/recovery.e2e.ts have such servers.
describe('after a move of the database', () => {
  const database = useDatabase({}, [beforeEach, afterEach]);
  let dataSource: DataSource;
  let repository: TypeOrmTimeLogRepository;
  let lastId = 0;
  let feed: TypeOrmFeedRepository;
  beforeEach(() => void ({ dataSource, repository, feed } = database));

  const newId = () => `019c1370-4e1b-7000-8000-${String(++lastId).padStart(12, '0')}`;
  const write = async (connection: Pick<DataSource, 'query'> = dataSource) => {
    const id = newId();
    await connection.query(
      `insert into time_logs (id, project_id, duration, description, date) values ($1, $1, 1, '', '2026-01-31')`,
      [id],
    );
    return id;
  };
  const start = () => repository.keepPositions();
  /** Keeps the positions like a start of the service whose statements have this timeout. */
  const startWithin = async (milliseconds: number) => {
    const service = await database.openAsService({ poolSize: 1, deadline: milliseconds / 0.9 });
    await repositoryOver(service).keepPositions();
  };
  /** As at the end of a restore. */
  const move = (...notes: [Parameters<typeof keepTimeLogPositions>[1]?]) =>
    dataSource.transaction(({ queryRunner }) => keepTimeLogPositions(queryRunner!, ...notes));
  const one = async <T>(sql: string, connection: Pick<DataSource, 'query'> = dataSource) =>
    (await connection.query<[{ value: T }]>(`select ${sql} as value`))[0].value;
  const note = () => one<string | null>(NOTE);
  const isDefaultPlain = async () => {
    const [row] = await dataSource.query<[{ value: string }]>(
      `select column_default as value from information_schema.columns where table_name = 'time_logs' and column_name = 'position'`,
    );
    return row.value === '((pg_current_xact_id())::text)::bigint';
  };
  /** The position of the newest log. */
  const newest = async () => BigInt(await one<string>('(select max(position) from time_logs)'));
  const placeAfterAll = async (): Promise<FeedCursor> => ({
    position: String(await newest()),
    logId: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
  });
  /** Has the last start note something else. */
  const forge = async (change: (note: string) => string) => {
    const [was, is] = [await note(), change((await note())!)];
    expect(is).not.toBe(was);
    await dataSource.query(`comment on function keep_time_log_positions() is '${is}'`);
  };
  /** Runs a statement without triggers, so that it leaves no trace, not even deletions. */
  const withoutTriggers = (statement: string) =>
    dataSource.query(
      `begin; alter table time_logs disable trigger user; ${statement}; alter table time_logs enable trigger user; commit`,
    );
  /** A reader's place after three logs, between which much else was written, and which are gone. */
  const placeOfReader = async (): Promise<FeedCursor> => {
    const ids: string[] = [];
    while (ids.length < 3) {
      ids.push(await write());
      await dataSource.query(
        'do $$ begin for n in 1..100 loop perform pg_current_xact_id(); commit; end loop; end $$',
      );
    }
    const last = await eventually(async () => {
      const events = await feed.eventsAfter(undefined, 10);
      expect(events.map(({ log }) => log.id)).toEqual(ids);
      return events.at(-1)!;
    });
    await withoutTriggers('delete from time_logs');
    return { position: last.position, logId: last.log.id };
  };
  /** Logs are written and all reach a reader. Resolves with the position of the first. */
  const readOn = async (place: FeedCursor) => {
    const ids = [await write(), await write()];
    return eventually(async () => {
      const events = await feed.eventsAfter(place, 10);
      expect(events.map(({ log }) => log.id)).toEqual(ids);
      return BigInt(events[0]!.position);
    });
  };

  it.each([
    ['to another server', /server \d+/, 'server 1'],
    ['to another table, as a dump makes it', /table \d+/, 'table 1'],
    ['to an earlier moment', /timeline \w+/, 'timeline FFFFFFFF'],
  ])('%s new positions begin in the next range, once', async (_what, part, other) => {
    await start();
    const place = await placeOfReader();
    await forge((text) => text.replace(part, other));
    await start();
    const first = await readOn(place);
    expect(first / RANGE).toBe(1n);
    await start();
    expect((await readOn(await placeAfterAll())) / RANGE).toBe(1n);
  });

  it.each([1n, 10n ** 12n])(
    'whose rows alone came, up to position %s, new positions begin in the next range',
    async (position) => {
      // Nothing is noted: no start has seen this table.
      const { position: read } = await placeOfReader();
      const logId = await write();
      await withoutTriggers(`update time_logs set position = ${position}`);
      await start();
      const place = position > BigInt(read) ? position : read;
      expect((await readOn({ position: String(place), logId })) / RANGE).toBe(1n);
    },
  );

  it('positions move once if several instances start, and only after a writer that has begun has ended', async () => {
    await write();
    await withoutTriggers(`update time_logs set position = 1`);
    const writer = await database.transaction();
    await write(writer);
    const starts = Promise.all([1, 2, 3].map(() => one<string>('keep_time_log_positions()')));
    await untilWaiting(dataSource, 3);
    await writer.commitTransaction();
    expect((await starts).filter((moved) => moved !== '0')).toHaveLength(1);
    await readOn(await placeAfterAll());
  });

  it('to a server that has only started again, they begin where those of the same files elsewhere cannot be', async () => {
    await start();
    const place = await placeOfReader();
    await forge((text) =>
      text
        .replace(/up since \d+/, 'up since 1')
        .replace(/At (\d+)/, (_at, seconds: string) => `At ${Number(seconds) - 3_600}`),
    );
    const was = BigInt(place.position);
    await start();
    const first = await readOn(place);
    expect([first > was + HOUR, first < was + 2n * HOUR]).toEqual([true, true]);
  });

  it('nothing moves where nothing was given out, nor at a later start', async () => {
    await start();
    const noted = await note();
    expect(noted).toMatch(/^On table \d+ of server \d+ on timeline 0{7}\w, up since/);
    await write();
    await start();
    expect([await note(), await isDefaultPlain()]).toEqual([noted, true]);
  });

  it('by a restore, positions move every time, and beyond what the backup has noted', async () => {
    await start();
    await move();
    await write();
    expect((await newest()) / RANGE).toBe(1n);
    await move();
    await write();
    expect((await newest()) / RANGE).toBe(2n);
    const anHourAgo = String(Date.now() / 1_000 - 3_600);
    await move({ unreachedPosition: String(10n * RANGE), unreachedAt: anHourAgo });
    await write();
    expect((await newest()) - 11n * RANGE).toBeGreaterThan(HOUR);
  });

  it.each(['REPEATABLE READ', 'SERIALIZABLE'] as const)(
    'positions are not moved in a %s transaction, which may not see an earlier move',
    async (isolation) => {
      await dataSource.transaction(isolation, async ({ queryRunner }) => {
        await expect(keepTimeLogPositions(queryRunner!)).rejects.toThrow(/in a READ COMMITTED transaction/);
        await queryRunner!.rollbackTransaction();
        await queryRunner!.startTransaction();
      });
    },
  );

  it('a start ends in one line where a position leaves no room, and goes on as the line says', async () => {
    await start();
    await write();
    for (const position of [2n ** 63n - 1n, 2n ** 63n - RANGE]) {
      const id = await write();
      await dataSource.query(`update time_logs set position = ${position} where id = $1`, [id]);
    }
    const refusal = await start().then(String, (error: unknown) => (error as Error).message);
    expect(refusal).toMatch(
      /^there is no room for new positions after 9223372036854775807: run update [^\n]+$/,
    );
    const [, advice] = /run (update .*) in the database/.exec(refusal)!;
    await dataSource.query(advice!);
    const place = await placeAfterAll();
    expect(place.position).toMatch(/^\d{1,10}$/);
    await start();
    await readOn(place);
  });

  it('a start says who is in the way where positions must move, and others use the table', async () => {
    await start();
    const place = await placeOfReader();
    await forge((text) => text.replace(/server \d+/, 'server 1'));
    const reader = await database.transaction();
    await reader.query('select from time_logs');
    await expect(startWithin(3_000)).rejects.toThrow(
      /^the database has moved, .* others use the table "public"/,
    );
    await reader.commitTransaction();
    await start();
    expect((await readOn(place)) / RANGE).toBe(1n);
  });

  it('a start waits for nobody long who reads the table of a server that has only started again', async () => {
    await start();
    const place = await placeOfReader();
    await forge((text) => text.replace(/up since \d+/, 'up since 1'));
    const forged = await note();
    const reader = await database.transaction();
    await reader.query('select from time_logs');
    await startWithin(6_000);
    expect([await note(), await isDefaultPlain()]).toEqual([forged, true]);
    await reader.commitTransaction();
    await start();
    expect(await isDefaultPlain()).toBe(false);
    await readOn(place);
  });

  it('a start of a server that takes no changes leaves it to a later one', async () => {
    await write();
    const runner = dataSource.createQueryRunner();
    await runner.query('begin read only');
    expect(await one<string>('keep_time_log_positions()', runner)).toBe('0');
    await runner.query('commit');
    await runner.release();
    expect(await note()).toBeNull();
    await start();
    expect(await note()).not.toBeNull();
  });
});
