import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ask } from '../faults/support/ask.js';
import { eventually } from '../eventually.js';
import { LossyProxy } from '../../support/lossy-proxy.js';
import { PostgresCluster, queryOnce } from '../../support/postgres-cluster.js';
import { TOKEN } from '../faults/support/service-under-writes.js';
import { unusedPort } from '../../support/unused-port.js';
import { type ServiceProcess, startService } from '../../support/service-process.js';
import { Daemon, describeWith, give, postgresAccount } from './daemon.js';

describeWith('pgbouncer')('the service behind PgBouncer in transaction mode', () => {
  let place: string;
  /** Leads from a port to the socket of the server. */
  let proxy: LossyProxy;
  let postgres: PostgresCluster;
  let pooler: Daemon;
  let databaseUrl: string;
  let pooledUrl: string;
  let services: ServiceProcess[] = [];

  beforeAll(async () => {
    postgres = await PostgresCluster.create();
    databaseUrl = await postgres.createDatabase();
    const name = new URL(databaseUrl.replace(/@[^/]*/, '@localhost')).pathname.slice(1);
    for (const [setting, value] of [
      ['statement_timeout', '1.5s'],
      ['idle_in_transaction_session_timeout', '2.5s'],
      // A pooler's sessions may have anything.
      ['synchronous_commit', 'off'],
    ])
      await postgres.query(`alter role ${name} set ${setting} = '${value}'`);
    place = await mkdtemp(join(tmpdir(), 'pgbouncer-'));
    const owner = await postgresAccount();
    await give(place, owner);
    proxy = new LossyProxy(postgres.socket);
    const port = await unusedPort();
    await writeFile(
      join(place, 'pgbouncer.ini'),
      `[databases]
${name} = host=127.0.0.1 port=${await proxy.listen()} user=${name}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 3
ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout
`,
    );
    pooler = Daemon.start(['pgbouncer', join(place, 'pgbouncer.ini')], {}, owner);
    pooledUrl = `postgres://${name}@127.0.0.1:${port}/${name}`;
    await eventually(async () =>
      expect(await queryOnce(pooledUrl, 'select 1 as one')).toEqual([{ one: 1 }]),
    ).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${pooler.output}`);
    });
  });
  afterAll(async () => {
    for (const service of services) await service.end('SIGKILL');
    await pooler.end('SIGINT');
    proxy.close();
    await postgres.remove();
    await rm(place, { recursive: true, force: true });
  });

  it('migrates directly, answers every request, and keeps its time limit and its durability', async () => {
    const env = { DATABASE_URL: pooledUrl, MIGRATION_DATABASE_URL: databaseUrl, ACCESS_TOKEN: TOKEN };
    services = await Promise.all([startService(env), startService(env)]);
    await queryOnce(
      databaseUrl,
      `create table commits as select current_setting('synchronous_commit') as mode limit 0;
       create function note() returns trigger language plpgsql as
         'begin insert into commits select current_setting(''synchronous_commit''); return null; end';
       create trigger note after insert on time_logs for each statement execute function note()`,
    );
    const body = JSON.stringify({ projectId: crypto.randomUUID(), duration: 1.5, date: '2026-01-31' });
    const statuses = await Promise.all(
      Array.from({ length: 60 }, async (_, number) => {
        const url = `${services[number % 2]!.url}/api/v1/time-logs`;
        return [(await ask(url, { body })).status, (await ask(url)).status];
      }),
    );
    expect(statuses).toEqual(statuses.map(() => [201, 200]));
    const listed = await ask(`${services[0]!.url}/api/v1/time-logs?limit=1`);
    expect(listed.body).toMatchObject({ meta: { total: 60 } });
    expect(await queryOnce(databaseUrl, 'select distinct mode from commits')).toEqual([{ mode: 'on' }]);
    expect(await queryOnce(pooledUrl, 'show statement_timeout')).toEqual([{ statement_timeout: '1500ms' }]);
  });
});
