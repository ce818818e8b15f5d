import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type DataSource, DataSource as Source } from 'typeorm';
import { digestOf, newToken } from '../../src/access-token/access-token.js';
import { eventually } from '../support/eventually.js';
import { scopes } from '../../src/app.module.js';
import { useTestDatabase } from '../support/fixtures.js';
import {
  correct,
  create,
  dataOf,
  get,
  idOf,
  remove,
  send,
  type Target,
  TIME_LOGS,
  totalOf,
} from '../support/requests.js';
import { type ServiceHere, startHere } from '../support/service-here.js';

const DOCUMENT = join(import.meta.dirname, '..', '..', 'docker', 'DATABASE.md');
const LOG = { projectId: randomUUID(), duration: 1, description: '', date: '2026-01-31' };

describe('the service with a role that owns nothing', () => {
  const role = `service_${randomUUID().replaceAll('-', '')}`;
  const token = newToken();
  afterAll(async () => {
    await service.end();
    await superuser.query(`drop owned by ${role}`);
    await superuser.query(`drop role ${role}`);
    await superuser.destroy();
    await owner.destroy();
  });
  const database = useTestDatabase();
  /** An ordinary role as well: it owns the database, and nothing of the server. */
  let owner: DataSource;
  let superuser: DataSource;
  let service: ServiceHere;

  /** The URL of the database for the role. */
  const urlOfRole = () => {
    const url = new URL(database.url);
    url.username = role;
    return url.href;
  };

  beforeAll(async () => {
    owner = await new Source({ type: 'postgres', url: database.url }).initialize();
    superuser = await new Source({ type: 'postgres', url: database.superuserUrl }).initialize();
    await superuser.query(`create role ${role} login nosuperuser nocreatedb nocreaterole`);
    const grants = (await readFile(DOCUMENT, 'utf8')).match(/^grant .* to service;$/gm) ?? [];
    expect(grants.length).toBeGreaterThan(0);
    for (const grant of grants) await owner.query(grant.replace('to service;', `to ${role}`));
    await owner.query(
      `insert into access_tokens (id, name, digest, scopes, created_at) values ($1, 'Ada', $2, $3, now())`,
      [randomUUID(), digestOf(token), scopes],
    );
    service = await startHere({ DATABASE_URL: urlOfRole() });
  });

  const target = (): Target => ({ port: service.port, token });
  const totals = async (query = '') =>
    ((await send(target(), `${TIME_LOGS}/totals${query}`)).body as { meta: object }).meta;

  it('is migrated by an owner who is no superuser', async () => {
    expect(
      await owner.query(
        `select rolsuper or rolcreaterole or rolcreatedb or rolbypassrls or rolreplication as may
           from pg_roles where rolname = current_user`,
      ),
    ).toEqual([{ may: false }]);
    expect(
      await owner.query(`select proname from pg_proc where not pg_has_role(proowner, 'member')
                                 and pronamespace = 'public'::regnamespace`),
    ).toEqual([]);
  });

  it('starts with nothing pending, records, lists, sums, and notes the use of a token, by the documented grants', async () => {
    expect((await send(target(), '/health')).status).toBe(200);
    const log = { ...LOG, projectId: randomUUID() };
    const before = (await totals()) as { count: number; duration: number };
    expect((await create(target(), log)).status).toBe(201);
    const key = { 'idempotency-key': 'key' };
    const answers = [await create(target(), log, key), await create(target(), log, key)];
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(answers[1]!.headers.get('idempotency-replayed')).toBe('true');
    expect(await totalOf(target(), `projectId=${log.projectId}`)).toBe(2);
    for (const by of ['', '?by=project', '?by=week', '?by=project,month'])
      expect(await totals(by)).toMatchObject({ count: before.count + 2, duration: before.duration + 2 });
    const use = `select 1 from access_tokens where last_used_at is not null`;
    await eventually(async () => expect(await owner.query<unknown[]>(use)).toHaveLength(1));
  });

  it('puts logs that the owner has brought from another server before new ones, at its start', async () => {
    const brought = dataOf(await create(target(), LOG));
    await owner.query('update time_logs set position = position + 1000000000000');
    await service.end();
    service = await startHere({ DATABASE_URL: urlOfRole() });
    const created = dataOf(await create(target(), LOG));
    // Transactions of other tests, on the same server, may hold the event back.
    await eventually(async () => {
      const events = (await send(target(), `${TIME_LOGS}/events`)).body as { data: unknown }[];
      expect(events.slice(-2).map(({ data }) => data)).toEqual([brought, created]);
    });
  });

  it('corrects and deletes a log, which counts and the feed of its first project follow', async () => {
    const log = { ...LOG, projectId: randomUUID() };
    const moved = { ...log, projectId: randomUUID(), duration: 2 };
    const id = idOf(await create(target(), log));
    expect((await get(target(), id)).status).toBe(200);
    expect((await correct(target(), id, moved)).status).toBe(200);
    expect(await totals(`?projectId=${log.projectId}`)).toMatchObject({ count: 0 });
    expect(await totals(`?projectId=${moved.projectId}`)).toMatchObject({ count: 1, duration: 2 });
    expect((await remove(target(), id)).status).toBe(204);
    expect(await totals(`?projectId=${moved.projectId}`)).toMatchObject({ count: 0, duration: 0 });
    await eventually(async () => {
      const { body } = await send(target(), `${TIME_LOGS}/events?projectId=${log.projectId}`);
      expect(body).toMatchObject([{ type: 'time-log.deleted', data: { id, projectId: log.projectId } }]);
    });
  });

  it('may neither empty nor change a table; it may fold counts', async () => {
    const own = await new Source({ type: 'postgres', url: urlOfRole() }).initialize();
    try {
      // The service may have folded them by now.
      const folded = await own.query<object[]>('select fold_time_log_counts(1) as folded');
      expect(folded).toEqual([{ folded: expect.any(Number) }]);
      await own.query('create temp table mine (project_id uuid, date date)');
      for (const statement of [
        'create trigger x after truncate on mine execute function forget_time_log_counts()',
        `create trigger x after insert on mine referencing new table as changed
           for each statement execute function count_time_logs('1')`,
        'truncate time_logs',
        'insert into time_log_changes select * from time_log_changes',
        'update time_log_months set total = 0',
        'delete from time_log_folds',
        'delete from access_tokens',
        'drop table time_logs',
        'alter table time_logs disable trigger all',
        'create table mine ()',
        `create function mine() returns int language sql as 'select 1'`,
      ]) {
        await expect(own.query(statement)).rejects.toThrow(/permission denied|must be owner/);
      }
    } finally {
      await own.destroy();
    }
  });

  it('gets an error with the command to run if a migration is pending', async () => {
    await owner.query(`delete from migrations where name like 'UpdateTimeLogs%'`);
    try {
      await expect(startHere({ DATABASE_URL: urlOfRole() })).rejects.toThrow(
        /could not be migrated: .*set MIGRATION_DATABASE_URL to a role that may change the schema/,
      );
    } finally {
      await owner.query(
        `insert into migrations (timestamp, name) values (1763683200001, 'UpdateTimeLogs1763683200001')`,
      );
    }
  });
});
