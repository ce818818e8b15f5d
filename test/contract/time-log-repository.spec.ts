import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { DomainError } from '../../libs/errors/src/index.js';
import {
  type Attributes,
  entityTagOf,
  normalizedValues,
  PageRequest,
  Period,
  TimeLog,
  type TimeLogAccess,
  TimeLogService,
  type TimeLogValues,
  TypeOrmTimeLogRepository,
} from '../../src/time-log/index.js';
import { Database } from '../../src/database/index.js';
import type { DataSource } from 'typeorm';
import { TypeOrmExportRepository } from '../../src/export/index.js';
import { TypeOrmTotalsRepository } from '../../src/totals/index.js';
import {
  ALL_PROJECTS,
  ANY_ATTRIBUTES,
  limits,
  newIds,
  repositoryOver,
  untilWaiting,
  useDatabase,
} from '../support/storage.js';
import { LossyProxy } from '../support/lossy-proxy.js';

const totalsOf = (logs: TypeOrmTimeLogRepository) => new TypeOrmTotalsRepository(logs);
const exportOf = (logs: TypeOrmTimeLogRepository) => new TypeOrmExportRepository(logs);

describe('attributes that SQL has stored', () => {
  const database = useDatabase();

  it.each(['{"rate": 0.1234567890123456789012, "large": 1e400}', '{"large": 12345678901234567890}', 'null'])(
    'are compared as they are stored: %s',
    async (attributes) => {
      const { dataSource } = database;
      const repository = repositoryOver(dataSource, ANY_ATTRIBUTES);
      const values = { projectId: randomUUID(), duration: 1, date: '2026-01-31', attributes: { a: 1 } };
      const log = TimeLog.of(values, '019c1370-4e1b-7000-8000-000000000001');
      const expected = async () => (await repository.get(log.id, ALL_PROJECTS))!;
      const store = (text: string) => dataSource.query('update time_logs set attributes = $1', [text]);
      await repository.record([log]);
      await store(attributes);
      const stale = await expected();
      await store('{"a": 2}');
      const changed = { code: 'PRECONDITION_FAILED' };
      await expect(repository.correct(log, ALL_PROJECTS, undefined, stale)).rejects.toMatchObject(changed);
      await expect(repository.delete(log.id, ALL_PROJECTS, undefined, stale)).rejects.toMatchObject(changed);
      await store(attributes);
      expect(await repository.correct(log, ALL_PROJECTS, undefined, await expected())).toEqual(log);
      await store(attributes);
      expect(await repository.delete(log.id, ALL_PROJECTS, undefined, await expected())).toMatchObject({
        id: log.id,
      });
    },
  );
});

describe('corrections of what SQL has stored', () => {
  const database = useDatabase();
  const id = '019c1370-4e1b-7000-8000-000000000001';
  const duration = '1234567890.1234567891';
  const attributes = '{"rate": 0.1234567890123456789012, "large": 12345678901234567890}';
  let service: TimeLogService;
  /** The columns of the row as text, with its version. */
  const rowOf = async () =>
    (
      await database.dataSource.query<{ duration: string; attributes: string; version: string }[]>(
        `select duration::text, attributes::text, ctid || ' ' || xmin || ' ' || position as version from time_logs`,
      )
    )[0]!;

  beforeEach(async () => {
    const { dataSource } = database;
    service = new TimeLogService(
      repositoryOver(dataSource, ANY_ATTRIBUTES),
      newIds(),
      undefined,
      ANY_ATTRIBUTES,
    );
    await dataSource.query('delete from time_logs');
    await dataSource.query(
      `insert into time_logs (id, project_id, duration, description, date, attributes)
         values ($1, $1, $2, 'work', '2026-01-31', $3)`,
      [id, duration, attributes],
    );
  });

  it('write nothing if they change nothing that a client sees', async () => {
    const row = await rowOf();
    const log = await service.get(id);
    const values = { ...normalizedValues(log), attributes: undefined };
    const ifMatch = [entityTagOf(log)];
    for (const corrected of [
      await service.patch(id, (current) => current),
      await service.correct(id, values),
      await service.correct(id, values, { ifMatch }),
    ])
      expect(corrected).toEqual(log);
    expect(await rowOf()).toEqual(row);
  });

  it.each<[string, Partial<TimeLogValues>, object]>([
    ['a description', { description: 'new' }, { duration, attributes }],
    ['a duration', { duration: 1.5 }, { duration: '1.5', attributes }],
    ['attributes', { attributes: { a: 1 } }, { duration, attributes: '{"a": 1}' }],
  ])('change %s, and no digit of other values', async (_what, changed, stored) => {
    expect(await service.patch(id, (log) => ({ ...normalizedValues(log), ...changed }))).toMatchObject(
      changed,
    );
    expect(await rowOf()).toMatchObject(stored);
  });

  it.each<[string, object, string]>([
    ['has another value', { added: 'x' }, '{"rate": 0.1234567890123456789012, "added": "x"}'],
    ['is removed', { added: undefined }, '{"rate": 0.1234567890123456789012}'],
  ])('keep the other attributes as they are stored if one %s', async (_what, changed, stored) => {
    await database.dataSource.query(
      `update time_logs set attributes = attributes - 'large' || '{"added": 1}'`,
    );
    await service.patch(id, (log) => {
      const attributes = JSON.stringify({ ...log.attributes, ...changed });
      return { ...normalizedValues(log), attributes: JSON.parse(attributes) as Attributes };
    });
    expect((await rowOf()).attributes).toBe(stored);
  });
});

describe('TypeOrmTimeLogRepository over PostgreSQL', () => {
  const values = {
    projectId: '11111111-1111-1111-1111-111111111111',
    duration: 0.1,
    description: '',
    date: '2026-01-31',
  };
  const logNumber = (number: number, duration = 0.1) =>
    TimeLog.of({ ...values, duration }, `019c1370-4e1b-7000-8000-${String(number).padStart(12, '0')}`);
  const unavailable = { name: 'DomainError', code: 'SERVICE_UNAVAILABLE' };
  const database = useDatabase();
  let dataSource: DataSource;
  let repository: TypeOrmTimeLogRepository;
  const { host } = /@(?<host>[^/]+)/.exec(process.env.TEST_DATABASE_URL!)!.groups!;
  const proxy = new LossyProxy(`${decodeURIComponent(host!)}/.s.PGSQL.5432`);

  beforeAll(async () => {
    await proxy.listen();
    dataSource = await database.openAsService(limits, proxy.url(database.url));
    repository = new TypeOrmTimeLogRepository(new Database(dataSource));
  });
  beforeEach(() => database.dataSource.query('truncate time_logs'));
  afterAll(() => proxy.close());

  it.each(['find', 'totals'] as const)(
    'ends %s with attributes at the deadline, and says what to do',
    async (read) => {
      const blocker = await database.transaction();
      await blocker.query('lock table time_logs in access exclusive mode');
      const filter = { period: Period.of(), attributes: { user: 'ada' } };
      const rest = [PageRequest.of(1, 50), ALL_PROJECTS] as const;
      await expect(
        read === 'totals'
          ? totalsOf(repository).totals(filter, undefined, ...rest)
          : repository.find(filter, ...rest),
      ).rejects.toMatchObject({
        ...unavailable,
        message: 'too many logs match: name a project or a shorter period',
      });
    },
  );

  it('ends an export with attributes if it cannot count the logs within the deadline', async () => {
    await dataSource.query(
      `insert into time_logs (id, project_id, duration, description, date, attributes)
       select ('019c1370-' || lpad(to_hex(n), 4, '0') || '-7000-8000-000000000000')::uuid, $1, 1, '', '2026-01-31',
              '{"user": "ada"}' from generate_series(1, 20000) n`,
      [values.projectId],
    );
    const hurried = new TypeOrmTimeLogRepository(new Database(dataSource), { limits: { deadline: 1 } });
    const filter = { period: Period.of(), attributes: { user: 'ada' } };
    await expect(
      exportOf(hurried).export({ filter, access: ALL_PROJECTS }, async () => undefined),
    ).rejects.toMatchObject({
      ...unavailable,
      message: 'too many logs match: name a project or a shorter period',
    });
  });

  describe('where somebody else is changing the log', () => {
    const log = logNumber(20, 15);
    /** Corrects the log while a transaction that has run a statement on it is open, which then ends in this way. */
    const correctDuring = async (
      statement: string,
      end: 'commit' | 'rollback',
      access: TimeLogAccess = ALL_PROJECTS,
      expected?: TimeLog,
    ) => {
      await repository.record([log]);
      const other = await database.transaction();
      await other.query(statement, [log.id]);
      const correction = repository
        .correct(logNumber(20, 1.5), access, undefined, expected)
        .catch((error: unknown) => ({ duration: (error as DomainError).code }));
      await untilWaiting(dataSource);
      await (end === 'commit' ? other.commitTransaction() : other.rollbackTransaction());
      const outcome = [await correction, await repository.get(log.id, ALL_PROJECTS)].map(
        (one) => one?.duration,
      );
      await repository.delete(log.id, ALL_PROJECTS);
      return outcome;
    };

    it.each([
      ['a correction', 'update time_logs set duration = 9 where id = $1', 9],
      ['the same correction', 'update time_logs set duration = 1.5 where id = $1', 1.5],
    ])('lets the later commit count, but refuses another version: %s', async (_what, statement, duration) => {
      for (const end of ['commit', 'rollback'] as const)
        expect(await correctDuring(statement, end)).toEqual([1.5, 1.5]);
      const during = (end: 'commit' | 'rollback') => correctDuring(statement, end, ALL_PROJECTS, log);
      expect(await during('commit')).toEqual(['PRECONDITION_FAILED', duration]);
      expect(await during('rollback')).toEqual([1.5, 1.5]);
    });

    it('finds no log where it has met a deletion', async () => {
      const deletion = 'delete from time_logs where id = $1';
      expect(await correctDuring(deletion, 'commit')).toEqual([undefined, undefined]);
      expect(await correctDuring(deletion, 'rollback')).toEqual([1.5, 1.5]);
    });

    it('finds no log where it has met a move to a project beyond the access', async () => {
      const move = `update time_logs set project_id = '00000000-0000-0000-0000-000000000000' where id = $1`;
      expect(await correctDuring(move, 'commit', { projects: [log.projectId] })).toEqual([undefined, 15]);
      expect(await correctDuring(move, 'rollback', { projects: [log.projectId] })).toEqual([1.5, 1.5]);
    });

    it('finds no log where it has met a change of an attribute to which the access is bound', async () => {
      await repository.record([log]);
      const store = `update time_logs set attributes = jsonb_build_object('user', $2::text) where id = $1`;
      await dataSource.query(store, [log.id, 'ada']);
      const other = await database.transaction();
      await other.query(store, [log.id, 'bob']);
      const access = { attributes: { user: 'ada' } };
      const changes = [repository.correct(logNumber(20, 1.5), access), repository.delete(log.id, access)];
      await untilWaiting(dataSource);
      await other.commitTransaction();
      expect(await Promise.all(changes)).toEqual([undefined, undefined]);
      expect(await repository.get(log.id, ALL_PROJECTS)).toMatchObject({ duration: 15 });
      await repository.delete(log.id, ALL_PROJECTS);
    });

    it('waits for nobody who refers to the log, and never takes the log from them', async () => {
      await repository.record([log]);
      await dataSource.query('create table referring (log_id uuid references time_logs on delete restrict)');
      await dataSource.transaction(async (other) => {
        await other.query('insert into referring values ($1)', [log.id]);
        expect(await repository.correct(logNumber(20, 1.5), ALL_PROJECTS)).toBeDefined();
      });
      await expect(repository.delete(log.id, ALL_PROJECTS)).rejects.toMatchObject({ code: 'CONFLICT' });
      await dataSource.query('drop table referring');
      await repository.delete(log.id, ALL_PROJECTS);
    });
  });
});
