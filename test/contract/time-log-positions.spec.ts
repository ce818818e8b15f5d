import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../libs/host-kit/src/contract/eventually.js';
import {
  type DataSource,
  parseEventId,
  type TypeOrmFeedRepository,
  type TypeOrmTimeLogRepository,
  untilWaiting,
  useDatabase,
} from '../support/storage.js';

/** What other servers may have reached: more than any server of a test. */
const FAR = 10n ** 12n;

describe('the positions of logs', () => {
  const database = useDatabase({}, [beforeEach, afterEach]);
  let dataSource: DataSource;
  let repository: TypeOrmTimeLogRepository;
  let lastId = 0;
  let feed: TypeOrmFeedRepository;
  beforeEach(() => void ({ dataSource, repository, feed } = database));

  /** Writes a log by SQL, with a position as a restore does, or with that of its transaction. */
  async function write(
    position?: bigint,
    connection: Pick<DataSource, 'query'> = dataSource,
  ): Promise<string> {
    const id = `019c1370-4e1b-7000-8000-${String(++lastId).padStart(12, '0')}`;
    await connection.query(
      `insert into time_logs (id, project_id, duration, description, date${position === undefined ? '' : ', position'})
       values ($1, $1, 1, '', '2026-01-31'${position === undefined ? '' : `, ${position}`})`,
      [id],
    );
    return id;
  }

  const keep = async () => {
    const [row] = await dataSource.query<{ moved: string }[]>('select keep_time_log_positions() as moved');
    return BigInt(row!.moved);
  };

  /** All ids in the order of the feed, as soon as there are so many: other tests may hold the server's feed back. */
  const told = (count: number) =>
    eventually(async () => {
      const events = await feed.eventsAfter(undefined, 1000);
      expect(events).toHaveLength(count);
      return events.map(({ log }) => log.id);
    });

  it('of another server come before new ones, and hide nothing: the clock is moved, once', async () => {
    const ids = [await write(), await write(FAR), await write(FAR - 1n)];
    expect(await feed.eventsAfter(undefined, 10)).not.toHaveLength(3);
    await repository.keepPositions();
    expect(await keep()).toBe(0n);
    ids.push(await write(), await write());
    const [one, far, before, ...later] = ids;
    expect(await told(5)).toEqual([one, before, far, ...later]);
    expect((await feed.eventsAfter(parseEventId(`${FAR}-${far}`), 10)).map(({ log }) => log.id)).toEqual(
      later,
    );
  });

  it('move once where several instances start, and only after a writer who has begun has ended', async () => {
    await write(FAR);
    const writer = await database.transaction();
    await write(undefined, writer);
    const starts = Promise.all([keep(), keep(), keep()]);
    await untilWaiting(dataSource, 3);
    await writer.commitTransaction();
    expect((await starts).filter((moved) => moved > 0n)).toHaveLength(1);
    const last = await write();
    expect((await told(3)).at(-1)).toBe(last);
  });

  it('start without their function where a host migrates later', async () => {
    await dataSource.query('drop function keep_time_log_positions');
    await repository.keepPositions();
    await dataSource.query('drop table time_logs cascade');
    await expect(feed.eventsAfter(undefined, 1)).rejects.toThrow();
  });
});
