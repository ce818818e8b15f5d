import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { LOG } from '../support/requests.js';
import { environment } from '../support/environment.js';
import { runHere } from '../support/commands-here.js';
import { startHere } from '../support/service-here.js';
import { type ServiceProcess, startService } from '../support/service-process.js';

const run = promisify(execFile);

describe('the embedded database', () => {
  it('ends the service with the reason when it cannot be kept running', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'time-logs-dying-'));
    const service = await startService({ DATA_DIR: directory });
    const exit = once(service.child, 'exit');
    while (service.child.exitCode === null) {
      const pid = Number.parseInt(
        await readFile(join(directory, 'postgres', 'postmaster.pid'), 'utf8').catch(() => ''),
        10,
      );
      if (pid > 0) spawnSync('kill', ['-9', String(pid)]);
      await delay(50);
    }
    expect(await exit).toEqual([1, null]);
    expect(service.output()).toMatch(/^the embedded PostgreSQL ended.*$/m);
    await rm(directory, { recursive: true, force: true });
  });

  it('gets its first token also where another was made before the first start', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'time-logs-token-first-'));
    await runHere('token', ['create', '--name', 'early'], { DATA_DIR: directory });
    const service = await startHere({ DATA_DIR: directory });
    const token = (await readFile(join(directory, 'access-token'), 'utf8')).trim();
    const response = await fetch(`${service.url}/health`, { headers: { authorization: `Bearer ${token}` } });
    expect([response.status, await response.text()]).toEqual([200, 'OK']);
    await service.end();
    await rm(directory, { recursive: true, force: true });
  });
});

/** Only Linux has this form of script(1), which runs a program at a terminal of its own. */
(process.platform === 'linux' ? describe : describe.skip)('the service at a terminal', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'time-logs-terminal-'));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  it('tells what it did, then the first steps, then its end: in this order, in lines for a person', async () => {
    const main = join(import.meta.dirname, '..', '..', 'dist', 'src', 'main.js');
    const env = environment({ PORT: '0', HOST: '127.0.0.1', DATA_DIR: directory });
    const terminal = spawn('script', ['-qec', `exec ${process.execPath} ${main}`, '/dev/null'], { env });
    let output = '';
    terminal.stdout.on('data', (chunk) => (output += String(chunk)));
    while (!output.includes('/docs')) await once(terminal.stdout, 'data');
    const exit = once(terminal, 'exit');
    // Ctrl-C
    terminal.stdin.write('\x03');
    expect(await exit).toEqual([0, null]);
    const lines = output.split('\r\n').map((line) => line.replaceAll(/\x1b\[\d+m|^\^C/g, ''));
    expect(lines.filter((line) => line !== '')).toEqual([
      expect.stringMatching(/^\[[\d:.]+\] INFO: the database is ready: embedded, in .*[/]postgres$/),
      expect.stringMatching(/^\[[\d:.]+\] INFO: listening on port \d+ of 127[.]0[.]0[.]1; messages: none /),
      'Record a log:',
      expect.stringMatching(/^curl .*\/api\/v1\/time-logs'$/),
      'List the logs:',
      expect.stringMatching(/^curl .*\/api\/v1\/time-logs'$/),
      expect.stringMatching(/^Try it: http:\/\/127\.0\.0\.1:\d+\/docs$/),
      expect.stringMatching(/^\[[\d:.]+\] INFO: shutting down$/),
    ]);
  });
});

describe('the service without DATABASE_URL', () => {
  let directory: string;
  let service: ServiceProcess;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "time-logs' first steps "));
    service = await startService({ DATA_DIR: directory, DATABASE_URL: '' });
  });

  afterAll(async () => {
    await service.end();
    await rm(directory, { recursive: true, force: true });
  });

  const pasted = async (index: number): Promise<Record<string, unknown>> => {
    while (!/^List the logs:\n\ncurl .*\n/m.test(service.output())) await once(service.child.stderr!, 'data');
    const lines = service.output().match(/^curl .*$/gm) ?? [];
    const { stdout } = await run('sh', ['-c', lines[index] ?? 'exit 1']);
    expect(stdout).toMatch(/\}\n$/);
    return JSON.parse(stdout) as Record<string, unknown>;
  };

  it('prints lines that record a log and find it in the list, as pasted', async () => {
    const created = (await pasted(0)) as { success: boolean; data: Record<string, unknown> };
    expect(created.success).toBe(true);
    const { date, ...item } = created.data;
    expect(date).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    expect(await pasted(1)).toEqual({ success: true, data: [item], meta: { total: 1, page: 1, limit: 50 } });
  });

  it('keeps its first token in a file that only its owner can read, and out of its output', async () => {
    const file = join(directory, 'access-token');
    const token = (await readFile(file, 'utf8')).trim();
    expect(token).toMatch(/^tl_[\w-]{43}$/);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(service.output()).not.toContain(token);
  });

  it('lets its first token correct and delete logs too, but not read metrics', async () => {
    const { data } = (await pasted(0)) as { data: { id: string } };
    const token = (await readFile(join(directory, 'access-token'), 'utf8')).trim();
    const statusOf = async (method: string, path: string, body?: string) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      return (await fetch(`${service.url}${path}`, { method, headers, ...(body && { body }) })).status;
    };
    const path = `/api/v1/time-logs/${data.id}`;
    expect(await statusOf('PUT', path, JSON.stringify(LOG))).toBe(200);
    expect(await statusOf('DELETE', path)).toBe(204);
    expect(await statusOf('GET', '/metrics')).toBe(403);
  });

  it('ends with 0 on SIGTERM, and finds logs and token again at the next start', async () => {
    const before = await pasted(1);
    const token = await readFile(join(directory, 'access-token'), 'utf8');
    expect(await service.end('SIGTERM')).toBe(0);

    service = await startService({ DATA_DIR: directory });
    expect(await pasted(1)).toEqual(before);
    expect(await readFile(join(directory, 'access-token'), 'utf8')).toBe(token);
  });

  it('serves again, with every log, after it was killed', async () => {
    await pasted(0);
    const before = await pasted(1);
    expect(await service.end('SIGKILL')).toBe('SIGKILL');

    service = await startService({ DATA_DIR: directory });
    expect(await pasted(1)).toEqual(before);
  });
});
