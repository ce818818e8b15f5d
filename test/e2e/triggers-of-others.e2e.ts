import { afterEach, describe, expect, it } from '@jest/globals';
import { LOG, PROJECT, sendUnchecked, TIME_LOGS } from '../support/requests.js';
import { useTestApp } from '../support/test-app.js';

const OTHER_PROJECT = '11111111-1111-1111-1111-111111111111';
const FAULT = { success: false, error: 'INTERNAL_ERROR', message: 'internal error' };
const CONFLICT = {
  success: false,
  error: 'CONFLICT',
  message: 'the database refuses this time log: it violates a constraint',
};

/** Has every trigger, rule and table of an operator or a host; all of them are about one project alone. */
const trigger = (name: string, when: string, action: string) => `
  create function ${name}() returns trigger language plpgsql as $$ begin ${action} end $$;
  create trigger ${name} ${when} on time_logs for each row execute function ${name}()`;
const OF_OTHER = `if (coalesce(new, old)).project_id = '${OTHER_PROJECT}' then`;
const DROPS = `${OF_OTHER} return null; end if; return coalesce(new, old);`;
const RAISES = `${OF_OTHER} raise exception 'not on Sundays'; end if; return new;`;

describe('where the database has triggers, rules and constraints of others', () => {
  const app = useTestApp();
  let sent = 0;

  const ask = async (method: string, id: string, projectId?: string, headers = {}) => {
    const log = projectId && { ...LOG, projectId, description: `log ${++sent}` };
    const { status, body } = await sendUnchecked(app, method, TIME_LOGS + id, log, headers);
    return { status, body };
  };
  const create = (projectId: string, headers?: Record<string, string>) => ask('POST', '', projectId, headers);
  const stored = async () => {
    const rows = await app.dataSource.query<{ project: string; logs: number }[]>(
      `select project_id as project, count(*)::int as logs from time_logs group by 1`,
    );
    return Object.fromEntries(rows.map(({ project, logs }) => [project, logs]));
  };
  const one = async (projectId: string) => {
    const { status, body } = await create(projectId);
    expect({ status, body }).toMatchObject({ status: 201 });
    return `/${(body as { data: { id: string } }).data.id}`;
  };

  afterEach(async () => {
    await app.dataSource.query(`
      do $$ declare name text; begin
        for name in select tgname from pg_trigger where tgname like 'others%' loop
          execute format('drop trigger %I on time_logs; drop function %I', name, name);
        end loop;
        for name in select rulename from pg_rules where tablename = 'time_logs' loop
          execute format('drop rule %I on time_logs', name);
        end loop;
        for name in select conname from pg_constraint where conname like 'others%' and conrelid = 'time_logs'::regclass loop
          execute format('alter table time_logs drop constraint %I', name);
        end loop;
      end $$;
      drop table if exists others_invoices, others_projects, others_audit;
      truncate time_logs, time_log_keys`);
  });

  it.each([
    ['a trigger drops', trigger('others_drop', 'before insert', DROPS), FAULT, 500],
    ['a trigger that raises refuses', trigger('others_raise', 'before insert', RAISES), FAULT, 500],
    [
      'a check refuses',
      `alter table time_logs add constraint others_check check (project_id <> '${OTHER_PROJECT}')`,
      CONFLICT,
      409,
    ],
    [
      'a deferred foreign key refuses',
      `create table others_projects as select '${PROJECT}'::uuid as id; alter table others_projects add primary key (id);
       alter table time_logs add constraint others_key foreign key (project_id) references others_projects initially deferred`,
      CONFLICT,
      409,
    ],
  ])('a log that %s is never 201, and takes no other with it', async (_what, sql, body, status) => {
    await app.dataSource.query(sql);
    for (const headers of [() => ({}), () => ({ 'idempotency-key': `key ${sent}` })]) {
      const projects = Array.from({ length: 40 }, (_, index) => (index % 8 === 3 ? OTHER_PROJECT : PROJECT));
      const answers = await Promise.all(projects.map((project) => create(project, headers())));
      expect(answers.map((answer) => answer.status)).toEqual(
        projects.map((project) => (project === PROJECT ? 201 : status)),
      );
      expect(answers[3]!.body).toEqual(body);
    }
    expect(await stored()).toEqual({ [PROJECT]: 70 });
    expect(await app.dataSource.query('select count(*)::int as keys from time_log_keys')).toEqual([
      { keys: 35 },
    ]);
  });

  it('a correction or a deletion that a trigger drops is 500, and 404 stays 404', async () => {
    const [id, free] = [await one(OTHER_PROJECT), await one(PROJECT)];
    await app.dataSource.query(trigger('others_drop', 'before update or delete', DROPS));
    const before = await app.dataSource.query<unknown[]>('select * from time_logs order by id');
    expect(await ask('PUT', id, OTHER_PROJECT)).toEqual({ status: 500, body: FAULT });
    expect(await ask('DELETE', id)).toEqual({ status: 500, body: FAULT });
    expect(await app.dataSource.query('select * from time_logs order by id')).toEqual(before);
    expect(await ask('PUT', free, PROJECT)).toMatchObject({ status: 200 });
    expect(await ask('DELETE', free)).toMatchObject({ status: 204 });
    expect(await ask('DELETE', free)).toMatchObject({ status: 404 });
    expect(await ask('PUT', free, PROJECT)).toMatchObject({ status: 404 });
  });

  it('a correction that a constraint refuses is 409, and so is the deletion of what others refer to', async () => {
    const id = await one(PROJECT);
    await app.dataSource.query(`
      alter table time_logs add constraint others_check check (project_id <> '${OTHER_PROJECT}');
      create table others_invoices as select id as log_id from time_logs;
      alter table others_invoices add foreign key (log_id) references time_logs initially deferred`);
    expect(await ask('PUT', id, OTHER_PROJECT)).toEqual({ status: 409, body: CONFLICT });
    expect(await ask('DELETE', id)).toEqual({
      status: 409,
      body: { ...CONFLICT, message: 'other records refer to this time log' },
    });
    expect(await stored()).toEqual({ [PROJECT]: 1 });
  });
});
