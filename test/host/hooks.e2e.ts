import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { ConflictException, type INestApplication, Injectable, Module } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import {
  type TimeLogChange,
  type TimeLogHooks,
  TimeLogModule,
  type WrittenTimeLogChange,
} from '../../src/embedding/index.js';
import { TIME_LOG_CHANGED } from '../../src/time-log/domain/time-log.repository.js';
import { TimeLogService, type TimeLogValues } from '../../src/time-log/index.js';
import { DomainError } from '../../libs/errors/src/index.js';
import { LOG, refusal } from '../support/requests.js';
import { untilWaiting } from '../support/storage.js';
import { hostDataSource, useHosts } from './embedded.js';

const CALLER = { id: 'ada', scopes: ['time-logs:read', 'time-logs:write', 'time-logs:correct'] };
const CLOSED = refusal('CONFLICT', 'the project is closed');
/** More than the pool has connections. */
const MANY = 30;

/** A dependency of the hooks of the host: its closed projects, and the actions of a test. */
@Injectable()
class Policy {
  readonly closed = new Set<string>();
  readonly asked: TimeLogChange[] = [];
  /** By which it was asked before. */
  readonly managers: (EntityManager | undefined)[] = [];
  /** Returns the values that replace those of a change. */
  replace: (change: TimeLogChange) => TimeLogValues | undefined = () => undefined;
  /** Runs after the row of audit was written. */
  after: (change: WrittenTimeLogChange, manager: EntityManager) => unknown = () => undefined;
}

@Module({ providers: [Policy], exports: [Policy] })
class PolicyModule {}

@Injectable()
class AuditHooks implements TimeLogHooks {
  constructor(private readonly policy: Policy) {}

  async before(change: TimeLogChange, manager?: EntityManager) {
    this.policy.asked.push(change);
    this.policy.managers.push(manager);
    await manager?.query('select from audit');
    const { projectId } = change.values ?? {};
    if (projectId !== undefined && this.policy.closed.has(projectId))
      throw new ConflictException('the project is closed');
    return this.policy.replace(change);
  }

  async within(change: WrittenTimeLogChange, manager: EntityManager): Promise<void> {
    const { kind, log, caller } = change;
    await manager.query('insert into audit (kind, log_id, duration, who) values ($1, $2, $3, $4)', [
      kind,
      log.id,
      log.duration,
      caller?.id ?? null,
    ]);
    await this.policy.after(change, manager);
  }
}

describe('the hooks of a host', () => {
  const hosts = useHosts();
  let app: INestApplication;
  let policy: Policy;

  /** Serves a host with hooks. */
  const serve = async (more: Parameters<typeof TimeLogModule.forRoot>[0] = {}) => {
    const timeLogs = TimeLogModule.forRoot({
      hooks: AuditHooks,
      imports: [PolicyModule],
      caller: () => CALLER,
      // A busy machine may take longer than a request has by default.
      limits: { deadline: 60_000 },
      ...more,
    });
    app = await hosts.serve([PolicyModule, hostDataSource(hosts.database.url), timeLogs]);
    policy = app.get(Policy);
  };
  const send = (method: string, path: string, log?: object, headers = {}) =>
    hosts.send(method, `/api/v1/time-logs${path}`, log, headers);
  const sql = <Row>(text: string, parameters: unknown[] = []) =>
    app.get(DataSource).query<Row[]>(text, parameters);
  const audit = () => sql('select kind, duration::float, who from audit order by at');
  const stored = () => sql('select from time_logs');

  beforeEach(async () => {
    await serve();
    await sql('drop table if exists audit');
    await sql(`create table audit
      (at serial, kind text, log_id uuid unique deferrable initially deferred, duration numeric, who text)`);
    await sql('truncate time_logs');
  });

  it('may inject the service that runs them', async () => {
    @Injectable()
    class OneLog implements TimeLogHooks {
      constructor(private readonly timeLogs: TimeLogService) {}
      async before(): Promise<void> {
        const { total } = await this.timeLogs.list();
        if (total > 0) throw new ConflictException('there is a log');
      }
    }
    await serve({ hooks: OneLog });
    expect(await send('POST', '', LOG)).toMatchObject([201, {}]);
    expect(await send('POST', '', LOG)).toMatchObject([409, { message: 'there is a log' }]);
  });

  it('refuse a change before it is made, in the words of the host', async () => {
    const [, { data }] = await send('POST', '', LOG);
    policy.closed.add(LOG.projectId);
    const refusal = [409, CLOSED];
    expect(await send('POST', '', LOG)).toEqual(refusal);
    expect(await send('PUT', `/${data!.id}`, { ...LOG, duration: 9 })).toEqual(refusal);
    await expect(app.get(TimeLogService).record(LOG)).rejects.toThrow('the project is closed');
    expect(await stored()).toHaveLength(1);
    expect(await audit()).toHaveLength(1);
  });

  it('refuse a conditional change once, also with the code of a changed log', async () => {
    const [, { data }] = await send('POST', '', LOG);
    policy.replace = () => {
      throw new DomainError({ ...TIME_LOG_CHANGED, message: 'the week is closed' });
    };
    const change = send('PUT', `/${data!.id}`, { ...LOG, duration: 9 }, { 'if-none-match': '"x"' });
    expect(await change).toEqual([412, refusal('PRECONDITION_FAILED', 'the week is closed')]);
    expect(policy.asked.filter(({ kind }) => kind === 'correct')).toHaveLength(1);
  });

  it('get what is recorded, corrected and deleted, and by which caller', async () => {
    await sql('alter table audit drop constraint audit_log_id_key');
    const durations: (number | undefined)[][] = [];
    policy.after = ({ previous, log }) => durations.push([previous?.duration, log.duration]);
    const [, { data }] = await send('POST', '', LOG);
    await send('PUT', `/${data!.id}`, { ...LOG, duration: 9 });
    await send('PATCH', `/${data!.id}`, { description: 'patched' });
    expect((await send('DELETE', `/${data!.id}`, undefined, { 'if-match': '"x"' }))[0]).toBe(412);
    expect(await send('DELETE', `/${data!.id}`)).toEqual([204, undefined]);
    expect((await send('DELETE', `/${data!.id}`))[0]).toBe(404);
    expect(policy.asked).toMatchObject([
      { kind: 'record', values: LOG, caller: CALLER },
      { kind: 'correct', id: data!.id, values: { ...LOG, duration: 9 }, caller: CALLER },
      {
        kind: 'correct',
        id: data!.id,
        values: { ...LOG, duration: 9, description: 'patched' },
        caller: CALLER,
      },
      { kind: 'delete', id: data!.id, caller: CALLER },
      { kind: 'delete', id: data!.id, caller: CALLER },
    ]);
    expect(policy.asked[0]).not.toHaveProperty('id');
    expect(durations).toEqual([
      [undefined, LOG.duration],
      [LOG.duration, 9],
      [9, 9],
      [9, 9],
    ]);
    expect(await audit()).toEqual([
      { kind: 'record', duration: LOG.duration, who: 'ada' },
      { kind: 'correct', duration: 9, who: 'ada' },
      { kind: 'correct', duration: 9, who: 'ada' },
      { kind: 'delete', duration: 9, who: 'ada' },
    ]);
  });

  it('may replace the values of a change, and a key brings the replaced ones again', async () => {
    const stamp = ({ values }: TimeLogChange) => values && { ...values, description: 'stamped' };
    policy.replace = stamp;
    // A second row of a log.
    await sql('alter table audit drop constraint audit_log_id_key');
    const key = { 'idempotency-key': randomUUID() };
    const first = await send('POST', '', LOG, key);
    expect(first).toMatchObject([201, { data: { ...LOG, description: 'stamped' } }]);
    const path = `/${first[1].data!.id}`;
    expect(await send('PUT', path, { ...LOG, duration: 9 })).toMatchObject([
      200,
      { data: { duration: 9, description: 'stamped' } },
    ]);
    policy.replace = () => undefined;
    expect(await send('POST', '', LOG, key)).toEqual(first);
    expect(await send('POST', '', { ...LOG, description: 'stamped' }, key)).toMatchObject([422, {}]);

    policy.replace = stamp;
    const service = app.get(TimeLogService);
    const ofBatch = { caller: 'ada', text: randomUUID() };
    const recorded = await service.recordAllOnce([LOG, LOG], ofBatch);
    expect(recorded.logs.map(({ description }) => description)).toEqual(['stamped', 'stamped']);

    // A caller that has lost the project of the replaced log.
    policy.replace = ({ values }) => values && { ...values, projectId: randomUUID() };
    const owned = { caller: 'ada', text: randomUUID() };
    const { log } = await service.recordOnce(LOG, owned);
    const bound = { caller: { projects: [LOG.projectId] } };
    await expect(service.recordOnce(LOG, owned, bound)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect(await service.recordOnce(LOG, owned)).toEqual({ log, isReplay: true });
  });

  it('cannot replace values against our rules, or the access of the caller', async () => {
    const caller = { projects: [LOG.projectId] };
    const record = () => app.get(TimeLogService).record(LOG, { caller });
    policy.replace = () => ({ ...LOG, duration: 0 });
    expect(await send('POST', '', LOG)).toMatchObject([400, { error: 'VALIDATION_ERROR' }]);
    policy.replace = () => ({ ...LOG, projectId: randomUUID() });
    await expect(record()).rejects.toMatchObject({ code: 'FORBIDDEN' });
    policy.replace = () => ({ ...LOG, attributes: { a: 1 } });
    await expect(record()).rejects.toThrow('attributes');
    expect(await stored()).toEqual([]);
  });

  it('are asked once about the creates of a key, also where many repeat it at once', async () => {
    const key = { 'idempotency-key': randomUUID() };
    const first = await send('POST', '', LOG, key);
    policy.closed.add(LOG.projectId);
    expect(await send('POST', '', LOG, key)).toEqual(first);
    expect([policy.asked.length, (await audit()).length]).toEqual([1, 1]);
    policy.closed.clear();
    const other = { 'idempotency-key': randomUUID() };
    const answers = await Promise.all(Array.from({ length: MANY }, () => send('POST', '', LOG, other)));
    expect(new Set(answers.map(([status, { data }]) => `${status} ${data?.id}`)).size).toBe(1);
    expect([(await audit()).length, (await stored()).length]).toEqual([2, 2]);
  });

  it('run for each log of a batch in order, in its transaction, and refuse all of it', async () => {
    const service = app.get(TimeLogService);
    const batch = [1, 2, 3].map((duration) => ({ ...LOG, duration }));
    const key = { caller: 'ada', text: randomUUID() };
    const record = (values = batch) => service.recordAllOnce(values, key, { caller: { id: 'ada' } });
    policy.after = ({ log }) => {
      if (log.duration === 2) throw new ConflictException('not two');
    };
    await expect(record()).rejects.toThrow('not two');
    await expect(service.recordAll(batch)).rejects.toThrow('not two');
    policy.after = () => undefined;
    policy.closed.add(LOG.projectId);
    await expect(record()).rejects.toThrow('the project is closed');
    expect([await audit(), await stored()]).toEqual([[], []]);
    policy.closed.clear();
    policy.asked.length = 0;
    const { logs } = await record();
    expect(policy.asked).toMatchObject(batch.map((values) => ({ kind: 'record', values })));
    expect(await audit()).toEqual(batch.map(({ duration }) => ({ kind: 'record', duration, who: 'ada' })));
    policy.closed.add(LOG.projectId);
    expect(await record()).toEqual({ logs, isReplay: true });
    await expect(record(batch.slice(1))).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
    expect([(await audit()).length, (await stored()).length]).toEqual([3, 3]);
    await expect(service.recordAll(batch)).rejects.toThrow('the project is closed');
  });

  it('roll back their own change by throwing, and no other', async () => {
    policy.after = ({ log }) => {
      if (log.duration === 13) throw new ConflictException('not thirteen');
    };
    const answers = await Promise.all(
      Array.from({ length: MANY }, (_, index) => send('POST', '', { ...LOG, duration: index + 1 })),
    );
    expect(answers.filter(([status]) => status !== 201)).toEqual([
      [409, { success: false, error: 'CONFLICT', message: 'not thirteen' }],
    ]);
    expect([(await audit()).length, (await stored()).length]).toEqual([MANY - 1, MANY - 1]);
  });

  it('delay no other caller while they take long, even if they hold all concurrency slots but one', async () => {
    const waiting: (() => void)[] = [];
    policy.after = ({ log }) =>
      log.duration === 13 ? new Promise<void>((resolve) => waiting.push(resolve)) : undefined;
    const slow = Array.from({ length: 4 }, () => send('POST', '', { ...LOG, duration: 13 }));
    const quick = await Promise.all(Array.from({ length: MANY }, () => send('POST', '', LOG)));
    expect(quick.map(([status]) => status)).toEqual(quick.map(() => 201));
    expect((await send('GET', '?limit=1'))[0]).toBe(200);
    waiting.forEach((end) => end());
    expect((await Promise.all(slow)).map(([status]) => status)).toEqual([201, 201, 201, 201]);
  });

  it('are left behind at the deadline, with what they have written', async () => {
    await serve({ limits: { deadline: 1_000 } });
    let end!: () => void;
    const late = new Promise<unknown>((resolve) => {
      policy.after = async (_change, manager) => {
        await new Promise<void>((released) => (end = released));
        await manager.query('insert into audit (kind) values ($1)', ['late']).catch(resolve);
      };
    });
    expect(await send('POST', '', LOG)).toMatchObject([503, { error: 'SERVICE_UNAVAILABLE' }]);
    policy.after = () => undefined;
    // As many as there are concurrency slots, so that one of them uses the slot of the late one.
    for (let left = 10; left > 0; left--) expect((await send('POST', '', LOG))[0]).toBe(201);
    end();
    expect(await late).toBeInstanceOf(Error);
    expect([(await audit()).length, (await stored()).length]).toEqual([10, 10]);
    // A call may allow more.
    policy.after = (_change, manager) => manager.query('select pg_sleep(1.2)');
    expect(await app.get(TimeLogService).recordAll([LOG], { deadline: 60_000 })).toHaveLength(1);
  });

  it.each<[string, (manager: EntityManager) => Promise<unknown>]>([
    ['hide that a statement has failed', (manager) => manager.query('select 1 / 0').catch(() => undefined)],
    ['roll back by SQL', (manager) => manager.query('rollback')],
    ['roll back by the runner', (manager) => manager.queryRunner!.rollbackTransaction()],
  ])('acknowledge nothing where they %s', async (_how, end) => {
    policy.after = (_change, manager) => end(manager);
    expect(await send('POST', '', LOG)).toMatchObject([500, { error: 'INTERNAL_ERROR' }]);
    expect([await audit(), await stored()]).toEqual([[], []]);
    policy.after = () => undefined;
    for (let left = 10; left > 0; left--) expect((await send('POST', '', LOG))[0]).toBe(201);
  });

  it('acknowledge nothing where the commit fails', async () => {
    const [, { data }] = await send('POST', '', LOG);
    // One row of audit for each log: the second one fails where it is looked at, at the end.
    expect(await send('PUT', `/${data!.id}`, { ...LOG, duration: 9 })).toMatchObject([500, {}]);
    expect(await sql('select duration::float from time_logs')).toEqual([{ duration: LOG.duration }]);
  });

  it('let a transaction that refers to a log correct it while a deletion waits', async () => {
    await sql('create table notes (log_id uuid references time_logs on delete cascade)');
    const service = app.get(TimeLogService);
    const { id } = await service.record(LOG);
    await sql('truncate audit');
    try {
      const [deletion] = await app.get(DataSource).transaction(async (manager) => {
        await manager.query('insert into notes values ($1)', [id]);
        const waiting = service.delete(id);
        await untilWaiting(app.get(DataSource));
        await service.correct(id, { ...LOG, duration: 7 }, { manager });
        await manager.query('delete from audit');
        return [waiting];
      });
      await deletion;
    } finally {
      await sql('drop table notes');
    }
    expect(await audit()).toEqual([{ kind: 'delete', duration: 7, who: null }]);
  });

  it('ask the database by the transaction of the host, of which more come at once than there are connections', async () => {
    const service = app.get(TimeLogService);
    const managers: (EntityManager | undefined)[] = [];
    const transactions = Array.from({ length: MANY }, () =>
      app.get(DataSource).transaction(async (manager) => {
        managers.push(manager);
        await service.record(LOG, { manager });
      }),
    );
    await Promise.all(transactions);
    expect(await stored()).toHaveLength(MANY);
    expect(policy.managers).toHaveLength(MANY);
    expect(policy.managers.every((manager) => managers.includes(manager))).toBe(true);
  });
});
