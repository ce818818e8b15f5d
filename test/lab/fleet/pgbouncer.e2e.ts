import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { ask } from '../faults/support/ask.js';
import { serve } from '../faults/support/service-under-writes.js';
import { useCluster, useLossyProxy } from '../faults/support/use-cluster.js';
import { runHere } from '../../support/service-here.js';
import { useFolder } from '../../support/fixtures.js';
import { queryOnce } from '../../support/postgres-cluster.js';
import { endProcess, type Printing, spawnService } from '../../support/service-process.js';
import { unusedPort } from '../../support/unused-port.js';
import { describeWith } from '../describe-with.js';
import { give, postgresAccount, startDaemon } from './daemon.js';

/** The settings that the service would send at the start of a connection. */
const SETTINGS = {
  default_transaction_isolation: 'read committed',
  synchronous_commit: 'on',
  jit: 'off',
  statement_timeout: '2250ms',
  lock_timeout: '1500ms',
  idle_in_transaction_session_timeout: '2500ms',
  client_connection_check_interval: '1s',
};

describeWith('pgbouncer')('the service behind PgBouncer in transaction mode', () => {
  const postgres = useCluster();
  /** Leads from a port to the socket of the server. */
  const proxy = useLossyProxy(postgres);
  const inFolder = useFolder('pgbouncer-');
  let pooler: Printing;
  /** Directly, and through the pooler. */
  let databaseUrl: string;
  let pooledUrl: string;

  beforeAll(async () => {
    const owner = await postgresAccount();
    await give(inFolder(), owner);
    databaseUrl = await postgres.createDatabase();
    const name = new URL(databaseUrl.replace(/@[^/]*/, '@localhost')).pathname.slice(1);
    for (const [setting, value] of Object.entries(SETTINGS))
      await postgres.query(`alter role ${name} set ${setting} = '${value}'`);
    const port = await unusedPort();
    const [, proxyPort] = /@127\.0\.0\.1:(\d+)/.exec(proxy.url(databaseUrl))!;
    const file = inFolder('pgbouncer.ini');
    await writeFile(
      file,
      `[databases]
${name} = host=127.0.0.1 port=${proxyPort} user=${name}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 3
`,
    );
    pooler = startDaemon(['pgbouncer', file], {}, owner);
    pooledUrl = `postgres://${name}@127.0.0.1:${port}/${name}`;
    await eventually(() => queryOnce(pooledUrl, 'select')).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${pooler.output()}`);
    });
  });
  afterAll(() => endProcess(pooler.child, 'SIGINT'));

  it('migrates directly, and answers every request', async () => {
    const url = `${pooledUrl}?pgbouncer=true`;
    const env = { MIGRATION_DATABASE_URL: databaseUrl };
    const services = await Promise.all([serve(url, env), serve(url, env)]);
    const body = JSON.stringify({ projectId: crypto.randomUUID(), duration: 1.5, date: '2026-01-31' });
    const statuses = await Promise.all(
      Array.from({ length: 60 }, async (_, number) => {
        const logs = `${services[number % 2]!.url}/api/v1/time-logs`;
        return [(await ask(logs, { body })).status, (await ask(logs)).status];
      }),
    );
    expect(statuses).toEqual(statuses.map(() => [201, 200]));
    const listed = await ask(`${services[0].url}/api/v1/time-logs?limit=1`);
    expect(listed.body).toMatchObject({ meta: { total: 60 } });
    expect(await runHere('counts', ['verify'], { DATABASE_URL: databaseUrl })).toMatchObject({ code: 0 });
  });

  it('does not start without the parameter, and says so in one line', async () => {
    const { child, output } = spawnService({
      DATABASE_URL: pooledUrl,
      MIGRATION_DATABASE_URL: databaseUrl,
    });
    expect(await once(child, 'exit')).toEqual([1, null]);
    expect(output().trim().split('\n').at(-1)).toMatch(
      /^\S+ refuses the connection [(]unsupported startup parameter.*add pgbouncer=true to the parameters in DATABASE_URL$/,
    );
  });
});
