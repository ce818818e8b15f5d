import { randomBytes } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { lastLineOf } from '../support/commands.js';
import { runHere } from '../support/commands-here.js';
import { rawRequest, sendRaw } from '../support/raw-http.js';
import { type ServiceHere, startHere } from '../support/service-here.js';
import { allOutputOf, type ServiceProcess, startService } from '../support/service-process.js';
import { createMigratedDatabase, type TestDatabase } from '../support/test-database.js';

const TOKEN = 'a-token-that-the-deployment-declares';
const TIME_LOGS = '/api/v1/time-logs';
const LOG = { projectId: '11111111-1111-1111-1111-111111111111', duration: 1, date: '2026-01-31' };
/** How to operate the service. */
const OPERATING = join(import.meta.dirname, '..', '..', 'docker', 'README.md');
const newToken = () => `tl_${randomBytes(32).toString('base64url')}`;

interface Line {
  readonly level?: string;
  readonly context?: string;
  readonly requestId?: string;
  readonly path?: string;
  readonly status?: number;
  readonly reason?: string;
  readonly caller?: string;
  readonly change?: string;
  readonly msg?: string;
}

let database: TestDatabase;
let service: ServiceHere | ServiceProcess;

beforeAll(async () => {
  database = await createMigratedDatabase();
});
afterAll(() => database.drop());

/** At its most talkative. */
const settings = () => ({ DATABASE_URL: database.url, ACCESS_TOKEN: TOKEN, LOG_LEVEL: 'trace' });

/** What the service logs while something is done. */
async function logOf(work: () => Promise<void>): Promise<{ text: string; lines: Line[] }> {
  const here = await startHere(settings());
  service = here;
  await work().finally(here.end);
  const text = here.written.log;
  return { text, lines: linesOf(text) };
}

/** What a process prints meanwhile. */
async function outputOf(work: () => Promise<void>): Promise<{ text: string; lines: Line[] }> {
  const process = await startService(settings());
  service = process;
  await work().finally(() => process.end());
  await allOutputOf(process);
  const text = process.output();
  return { text, lines: linesOf(text) };
}

/** Throws where one is no object of JSON. */
function linesOf(text: string): Line[] {
  const lines = text.trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as Line);
}

/** Writes a request as it is; CR and LF in it are what a client sends to forge lines of the log. */
const send = (target: string, ...headers: string[]) =>
  sendRaw(
    service.port,
    Buffer.from(rawRequest(`GET ${target} HTTP/1.1`, 'Host: x', ...headers, 'Connection: close'), 'latin1'),
  );

const create = (description: string, requestId: string) =>
  fetch(service.url + TIME_LOGS, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/json',
      'x-request-id': requestId,
    },
    body: JSON.stringify({
      projectId: '11111111-1111-1111-1111-111111111111',
      duration: 1,
      date: '2026-01-31',
      description,
    }),
  });

describe('the log', () => {
  it('tells what the embedded PostgreSQL does at every start and end at `debug` alone', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'time-logs-log-'));
    const postgresLines = async (level: string) => {
      const { end, written } = await startHere({ DATA_DIR: directory, LOG_LEVEL: level });
      await end();
      return linesOf(written.log).filter(({ context }) => context === 'PostgreSQL');
    };
    expect(await postgresLines('info')).toEqual([]);
    const told = await postgresLines('debug');
    expect(told).toContainEqual(
      expect.objectContaining({ msg: expect.stringContaining('is ready to accept') }),
    );
    expect(new Set(told.map(({ level }) => level))).toEqual(new Set(['debug']));
    await rm(directory, { recursive: true, force: true });
  });

  it('has a line of its own for each event, whatever a request holds: no line ends, no escape codes', async () => {
    const forged = '{"level":"fatal","msg":"forged"}';
    const bearer = `Authorization: Bearer ${TOKEN}`;
    const { text, lines } = await outputOf(async () => {
      for (const evil of [
        `%0d%0a${forged}`,
        `%1b[31m`,
        `\r\n${forged}`,
        `\n${forged}\n`,
        '\x1b[31m',
        '\x9b31m',
        '\u0085',
        '\x7f',
        '\0',
      ]) {
        await send(`/nowhere/${evil}`, bearer);
        await send(`http://x/${evil}`, bearer);
        await send(`/health?${evil}`, `Authorization: Bearer ${evil}`);
        await send(`${TIME_LOGS}?${evil}=1`, bearer, `X-Request-Id: ${evil}`);
        await send('/health', bearer, `X-Evil: ${evil}`, `User-Agent: ${evil}`);
        await create(evil, evil.replaceAll(/[^\x20-\x7e]/g, '')).catch(() => undefined);
      }
    });
    expect(text).not.toMatch(/[\0-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]/);
    expect(lines.length).toBeGreaterThan(40);
    expect(lines.filter(({ level, msg }) => level === 'fatal' || msg === 'forged')).toEqual([]);
  });

  it('tells who failed to authenticate by request id, also before routing, and never the token', async () => {
    const jwt = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJBZGEifQ.c2lnbmF0dXJl';
    const tokens = [newToken(), newToken(), newToken(), newToken(), TOKEN, jwt];
    const { text, lines } = await logOf(async () => {
      await send('/health', `Authorization: Bearer ${tokens[0]!}`, 'X-Request-Id: unknown-token');
      await send('/health', `Authorization: Basic ${tokens[1]!}`, 'X-Request-Id: other-scheme');
      await send(`/health?access_token=${tokens[2]!}`, 'X-Request-Id: in-query');
      await send(`/health/${tokens[3]!}`, 'X-Request-Id: in-path');
      await send(`/${jwt}/${TOKEN}`, 'X-Request-Id: two-in-path');
      await send('/nowhere', `Authorization: Bearer ${TOKEN}`, 'X-Request-Id: not-found');
      await send('/health', `Authorization: Bearer ${TOKEN}`, 'Expect: more', 'X-Request-Id: expecting');
    });
    for (const id of ['unknown-token', 'other-scheme', 'in-query', 'in-path', 'two-in-path']) {
      const line = lines.find(({ requestId }) => requestId === id);
      expect(line).toMatchObject({ level: 'info', method: 'GET', status: 401, error: 'UNAUTHORIZED' });
      expect(['/health', '(unknown)']).toContain(line!.path);
    }
    expect(lines.find(({ requestId }) => requestId === 'not-found')).toMatchObject({ status: 404 });
    expect(lines.find(({ requestId }) => requestId === 'expecting')).toMatchObject({ status: 417 });
    for (const token of tokens) expect(text).not.toContain(token.slice(3));
  });

  it('tells what was wrong with a request and who called, and never a name that was sent', async () => {
    const { text, lines } = await logOf(async () => {
      await create('\0', 'refused-create');
      await send(
        `${TIME_LOGS}?secret-name=1&page=x`,
        `Authorization: Bearer ${TOKEN}`,
        'X-Request-Id: refused-list',
      );
      await send('/metrics', `Authorization: Bearer ${TOKEN}`, 'X-Request-Id: lacks-scope');
      await fetch(`${service.url}${TIME_LOGS}/019c1370-4e1b-7000-8000-000000000001`, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${TOKEN}`, 'x-request-id': 'refused-deletion' },
      });
    });
    const refusals = ['refused-create', 'refused-list', 'lacks-scope', 'refused-deletion'].map((id) => {
      const { level, status, reason, caller } = lines.find(({ requestId }) => requestId === id)!;
      return [level, status, reason, caller];
    });
    const caller = expect.stringMatching(/^declared:[0-9a-f]{16}$/);
    expect(refusals).toEqual([
      ['info', 400, 'description must not contain U+0000', caller],
      ['info', 400, 'page must be a whole number from 1 to 2^53-1; unknown parameter', caller],
      ['info', 403, 'the token lacks the scope metrics:read', caller],
      ['info', 403, 'the token lacks the scope time-logs:correct', caller],
    ]);
    expect(text).not.toContain('secret-name');
  });

  it('tells who corrected or deleted a log, by its id, and at `debug` who recorded it', async () => {
    const env = { DATABASE_URL: database.url };
    const token = lastLineOf(
      await runHere(
        'token',
        ['create', '--name', 'Clerk', ...['write', 'correct'].flatMap((s) => ['--scope', `time-logs:${s}`])],
        env,
      ),
    );
    const clerk = (await runHere('token', ['list'], env)).stdout
      .split('\n')
      .find((line) => line.includes('Clerk'))!
      .split(' ')[0];
    const linesAt = async (level: string) => {
      const here = await startHere({ ...settings(), LOG_LEVEL: level });
      service = here;
      const change = (method: string, path: string, body?: object) =>
        fetch(here.url + path, {
          method,
          headers: {
            authorization: `Bearer ${token}`,
            'content-type': 'application/json',
            'x-request-id': method,
          },
          ...(body && { body: JSON.stringify(body) }),
        });
      const { data } = (await (await change('POST', TIME_LOGS, LOG)).json()) as { data: { id: string } };
      // In the form of the log, whatever the caller writes.
      const path = `${TIME_LOGS}/${data.id.toUpperCase()}`;
      expect((await change('PUT', path, { ...LOG, description: 'private words' })).status).toBe(200);
      expect((await change('DELETE', path)).status).toBe(204);
      expect((await change('DELETE', path)).status).toBe(404);
      await here.end();
      expect(here.written.log).not.toContain('private words');
      const file = join(await mkdtemp(join(tmpdir(), 'time-logs-log-')), 'service.log');
      await writeFile(file, here.written.log);
      const [query] = /^grep .*$/m.exec(await readFile(OPERATING, 'utf8'))!;
      const found = execFileSync(
        'sh',
        ['-c', query.replace('ID', data.id).replace('service.log', basename(file))],
        {
          cwd: dirname(file),
          encoding: 'utf8',
        },
      );
      await rm(dirname(file), { recursive: true });
      return linesOf(found).map(({ level, requestId, change, status, caller }) => {
        expect(caller).toBe(clerk);
        return [level, requestId, change, status];
      });
    };
    const changes = [
      ['info', 'PUT', 'correct', 200],
      ['info', 'DELETE', 'delete', 204],
      ['info', 'DELETE', 'delete', 404],
    ];
    expect(await linesAt('info')).toEqual(changes);
    expect(await linesAt('debug')).toEqual([['debug', 'POST', 'record', 201], ...changes]);
  });

  it('takes no refusal of readyz during the shutdown for an alarm', async () => {
    const { url, end, written } = await startHere({ DATABASE_URL: database.url, SHUTDOWN_DELAY: '1' });
    const ended = end();
    while ((await fetch(`${url}/readyz`)).status !== 503);
    await ended;
    expect(written.log).toMatch(/readyz.*the service is shutting down/);
    expect(written.log).not.toContain('"level":"error"');
  });

  it('tells a fault of the service by request id, with neither SQL nor its parameters, while the answer tells nothing', async () => {
    const owner = await new DataSource({ type: 'postgres', url: database.url }).initialize();
    let answer = '';
    const { text, lines } = await logOf(async () => {
      await owner.query(`alter table time_logs add constraint none check (description <> 'private words')`);
      const response = await create('private words', 'a-fault');
      answer = `${response.status} ${await response.text()}`;
      await owner.query('alter table time_logs drop constraint none');
    });
    await owner.destroy();
    expect(answer).toBe('500 {"success":false,"error":"INTERNAL_ERROR","message":"internal error"}');
    expect(lines.find(({ requestId }) => requestId === 'a-fault')).toMatchObject({
      level: 'error',
      status: 500,
      error: 'INTERNAL_ERROR',
    });
    expect(lines.find(({ level, msg }) => level === 'error' && msg?.includes('(a-fault)'))).toBeDefined();
    expect(text).not.toMatch(/private words|insert into|unnest/i);
  });
});
