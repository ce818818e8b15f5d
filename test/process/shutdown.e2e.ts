import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { Agent, get } from 'node:http';
import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { withSql } from '../support/backup-rows.js';
import { DECLARED_TOKEN, environment } from '../support/environment.js';
import { useTestDatabase } from '../support/fixtures.js';
import { list, outcome, refusal, send } from '../support/requests.js';
import { startHere } from '../support/service-here.js';
import {
  endProcess,
  LISTENING,
  type Printing,
  spawnProgram,
  startService,
} from '../support/service-process.js';
import { createTestDatabase } from '../support/test-database.js';

/** Makes a command process 1 of a namespace, as it is in a container; undefined where nobody may. */
const UNSHARE = [[], ['--user', '--map-current-user']]
  .map((user) => ['unshare', ...user, '--pid', '--fork', '--kill-child'])
  .find(([command, ...flags]) => spawnSync(command!, [...flags, 'true']).status === 0);

describe('shutdown', () => {
  const database = useTestDatabase();
  const empty = useTestDatabase(createTestDatabase);
  const settings = () => ({
    DATABASE_URL: database.url,
    ACCESS_TOKEN: DECLARED_TOKEN,
    HOST: '127.0.0.1',
    PORT: '0',
  });
  let started: Printing | undefined;
  afterEach(async () => {
    if (started) await endProcess(started.child, 'SIGKILL');
  });

  const title = 'drains and exits with 0 on SIGTERM, also with busy keep-alive clients and a second signal';
  it(`${title}${UNSHARE ? ', as process 1' : ''}`, async () => {
    const { url, child } = await startService({ ...settings(), SHUTDOWN_DELAY: '1' }, UNSHARE);
    const children = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').catch(() => '');
    const pid = UNSHARE ? Number(children) : child.pid!;
    const exit = once(child, 'exit');
    const agent = new Agent({ keepAlive: true, maxSockets: 4 });
    const headers = { authorization: `Bearer ${DECLARED_TOKEN}` };
    const statuses: number[] = [];
    const refusals: string[] = [];
    let isBusy = true;
    const client = async () => {
      while (isBusy) {
        await new Promise<void>((resolve) => {
          get(`${url}/api/v1/time-logs`, { agent, headers }, (response) => {
            statuses.push(response.statusCode ?? 0);
            response.resume().on('close', resolve);
          }).on('error', (error: NodeJS.ErrnoException) => {
            refusals.push(error.code ?? '');
            setTimeout(resolve, 5);
          });
        });
      }
    };
    const clients = [client(), client(), client(), client()];
    await eventually(() => expect(statuses.length).toBeGreaterThan(10));
    process.kill(pid, 'SIGTERM');
    process.kill(pid, 'SIGINT');
    expect(await exit).toEqual([0, null]);
    // Each has seen that nobody is there any more.
    await eventually(() => expect(refusals.length).toBeGreaterThanOrEqual(4));
    isBusy = false;
    await Promise.all(clients);
    agent.destroy();
    expect(new Set(statuses)).toEqual(new Set([200]));
    // Nobody who kept a connection busy was cut off.
    expect(new Set(refusals)).toEqual(new Set(['ECONNREFUSED']));
  });

  it('ends while it waits for another instance that migrates', async () => {
    await withSql(empty.url, async (other) => {
      const session = other.createQueryRunner();
      await session.query('select pg_advisory_lock(8388356062275465063)');
      const [written, stop] = [{ log: '', said: '' }, new AbortController()];
      const starting = startHere({ ...settings(), DATABASE_URL: empty.url }, written, stop);
      const outcome = expect(starting).rejects.toMatchObject({ name: 'AbortError' });
      await eventually(() => expect(written.log).toContain('waiting for another instance that migrates'));
      stop.abort();
      await outcome;
      expect(await other.query(`select tablename from pg_tables where schemaname = 'public'`)).toEqual([]);
      await session.release();
    });
  });

  it('serves on for SHUTDOWN_DELAY seconds, while readyz already refuses, which is no alarm', async () => {
    const service = await startService({ ...settings(), SHUTDOWN_DELAY: '3600' });
    started = service;
    const target = { port: service.port, token: DECLARED_TOKEN };
    expect((await send(target, '/readyz')).status).toBe(200);
    service.child.kill('SIGTERM');
    await service.printed(/shutting down/);
    const ready = await eventually(async () => {
      const answer = await send(target, '/readyz');
      expect(answer.status).not.toBe(200);
      return answer;
    });
    expect([...outcome(ready), ready.headers.get('retry-after')]).toEqual([
      503,
      refusal('SERVICE_UNAVAILABLE', 'the service is shutting down'),
      '1',
    ]);
    await service.printed(/readyz.*the service is shutting down/);
    expect(service.output()).not.toContain('"level":"error"');
    // Only at the end are connections closed whose statement takes long.
    await withSql(database.url, (sql) =>
      sql.transaction(async (manager) => {
        await manager.query('lock table time_logs');
        expect((await list(target)).status).toBe(503);
      }),
    );
    expect(service.output()).not.toContain('Connection terminated');
  });

  it('reaches the service where npm start gets the signal', async () => {
    started = spawnProgram(['npm', 'start', '--ignore-scripts'], environment(settings()));
    await started.printed(LISTENING);
    // The pipe closes when nobody is left to write into it.
    const closed = once(started.child.stdout!, 'close');
    started.child.kill('SIGTERM');
    await closed;
  });
});
