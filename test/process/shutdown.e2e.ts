import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { Agent, get } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { environment } from '../support/environment.js';
import { answersIn } from '../support/raw-http.js';
import { outcome, refusal } from '../support/requests.js';
import { startHere } from '../support/service-here.js';
import { endProcess, type ServiceProcess, spawnService, startService } from '../support/service-process.js';
import { createMigratedDatabase, createTestDatabase, type TestDatabase } from '../support/test-database.js';

const TOKEN = 'a-token-that-the-deployment-declares';
const MAIN = join(import.meta.dirname, '..', '..', 'dist', 'src', 'main.js');
/**
 * How a process becomes the first of a namespace of its own here, as it is in a container; undefined where nobody
 * may.
 */
const UNSHARE = [[], ['--user', '--map-current-user']]
  .map((user) => [...user, '--pid', '--fork', '--kill-child'])
  .find((flags) => spawnSync('unshare', [...flags, 'true']).status === 0);
const LIST = `GET /api/v1/time-logs HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`;

describe('shutdown', () => {
  let database: TestDatabase;
  let service: ServiceProcess | undefined;

  const start = async (env: Record<string, string> = {}): Promise<ServiceProcess> => {
    service = await startService({ DATABASE_URL: database.url, ACCESS_TOKEN: TOKEN, ...env });
    return service;
  };

  beforeAll(async () => {
    database = await createMigratedDatabase();
  });
  afterEach(async () => {
    await service?.end('SIGKILL');
  });
  afterAll(() => database.drop());

  it('drains and exits with 0 on SIGTERM, also with a busy keep-alive client', async () => {
    const { url, end } = await start();
    const agent = new Agent({ keepAlive: true, maxSockets: 4 });
    const statuses: number[] = [];
    const refusals: string[] = [];
    let isBusy = true;
    const client = async () => {
      while (isBusy) {
        await new Promise<void>((resolve) => {
          get(
            `${url}/api/v1/time-logs`,
            { agent, headers: { authorization: `Bearer ${TOKEN}` } },
            (response) => {
              statuses.push(response.statusCode ?? 0);
              response.resume().on('close', resolve);
            },
          ).on('error', (error: NodeJS.ErrnoException) => {
            refusals.push(error.code ?? '');
            setTimeout(resolve, 5);
          });
        });
      }
    };
    const clients = [client(), client(), client(), client()];
    while (statuses.length <= 10) await delay(10);
    const code = await end('SIGTERM');
    isBusy = false;
    await Promise.all(clients);
    agent.destroy();

    expect(code).toBe(0);
    expect(new Set(statuses)).toEqual(new Set([200]));
    // Nobody who kept a connection busy was cut off.
    expect(new Set(refusals)).toEqual(new Set(['ECONNREFUSED']));
  });

  it('exits with 0 on SIGINT, and takes a second signal for the first', async () => {
    const { child, end } = await start();
    child.kill('SIGINT');
    child.kill('SIGINT');
    expect(await end('SIGTERM')).toBe(0);
  });

  (UNSHARE ? it : it.skip)(
    'works the same as process 1 of a container (skipped without unshare)',
    async () => {
      const env = environment({
        DATABASE_URL: database.url,
        ACCESS_TOKEN: TOKEN,
        HOST: '127.0.0.1',
        PORT: '0',
      });
      const child = spawn('unshare', [...UNSHARE!, process.execPath, MAIN], {
        env,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      try {
        let output = '';
        for await (const chunk of child.stdout.iterator({ destroyOnReturn: false }))
          if ((output += String(chunk)).includes('listening on port')) break;
        child.stdout.resume();
        const [inside] = (await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')).split(' ');
        const exit = once(child, 'exit');
        process.kill(Number(inside), 'SIGTERM');
        expect(await exit).toEqual([0, null]);
      } finally {
        await endProcess(child, 'SIGKILL');
      }
    },
  );

  it('exits with 0 on a signal during the start', async () => {
    const { child } = spawnService({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none', PORT: '0' });
    await once(child.stdout!, 'data');
    expect(await endProcess(child, 'SIGTERM')).toBe(0);
  });

  it('exits with 0 on a signal while it waits for another instance that migrates, of version 0.1 too', async () => {
    const empty = await createTestDatabase();
    const other = await new DataSource({ type: 'postgres', url: empty.url }).initialize();
    try {
      const session = other.createQueryRunner();
      // As version 0.1 does it.
      await session.query('select pg_advisory_lock(8388356062275465063)');
      const { child, output } = spawnService({ DATABASE_URL: empty.url, HOST: '127.0.0.1', PORT: '0' });
      while (!output().includes('waiting for another instance that migrates'))
        await once(child.stdout!, 'data');
      child.kill('SIGTERM');
      expect(await once(child, 'exit')).toEqual([0, null]);
      expect(await other.query(`select tablename from pg_tables where schemaname = 'public'`)).toEqual([]);
      await session.release();
    } finally {
      await other.destroy();
      await empty.drop();
    }
  });

  it('answers a request that is not received in time with 408', async () => {
    const { port, end } = await startHere({ DATABASE_URL: database.url, ACCESS_TOKEN: TOKEN });
    const socket = connect(port, '127.0.0.1');
    const chunks: string[] = [];
    socket.on('data', (chunk) => chunks.push(String(chunk)));
    socket.write(
      `POST /api/v1/time-logs HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n`,
    );
    // The service has the request.
    await once(socket, 'data');
    socket.write('{');
    const ended = end();
    await once(socket, 'close');
    await ended;
    const timedOut = refusal('REQUEST_TIMEOUT', 'the request was not received in time');
    expect(answersIn(chunks.join('')).map(outcome)).toEqual([[408, timedOut]]);
  });

  it('serves on for SHUTDOWN_DELAY seconds, while readyz already refuses', async () => {
    const { url, port, end } = await startHere({
      DATABASE_URL: database.url,
      ACCESS_TOKEN: TOKEN,
      SHUTDOWN_DELAY: '3',
    });
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    const ended = end();
    let ready = await fetch(`${url}/readyz`);
    while (ready.status === 200) ready = await fetch(`${url}/readyz`);
    expect([ready.status, ready.headers.get('retry-after'), await ready.json()]).toEqual([
      503,
      '1',
      { success: false, error: 'SERVICE_UNAVAILABLE', message: 'the service is shutting down' },
    ]);
    const socket = connect(port, '127.0.0.1');
    const answer = once(socket, 'data');
    socket.write(LIST);
    expect(String(await answer)).toMatch(/^HTTP\/1\.1 200 /);
    await ended;
    socket.destroy();
  });

  it('reaches the service where npm start gets the signal', async () => {
    const npm = spawn('npm', ['start', '--ignore-scripts'], {
      cwd: join(import.meta.dirname, '..', '..'),
      env: environment({
        DATABASE_URL: database.url,
        ACCESS_TOKEN: TOKEN,
        PORT: '0',
        HOST: '127.0.0.1',
      }),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    // The pipe closes when nobody is left to write into it.
    const closed = once(npm.stdout, 'close');
    let output = '';
    for await (const chunk of npm.stdout.iterator({ destroyOnReturn: false })) {
      output += String(chunk);
      if (output.includes('listening on port')) break;
    }
    npm.stdout.resume();
    npm.kill('SIGTERM');
    await closed;
    expect(output).toContain('listening on port');
  });
});
