import { randomBytes } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { withSql } from '../support/backup-rows.js';
import { lastLineOf } from '../support/commands.js';
import { type Line, linesOf, runHere, startHere } from '../support/service-here.js';
import { DECLARED_TOKEN as TOKEN } from '../support/environment.js';
import { useFolder, useTestDatabase } from '../support/fixtures.js';
import { rawRequest, sendRaw } from '../support/raw-http.js';
import { create as post, createAll, dataOf, LOG, send, type Target, TIME_LOGS } from '../support/requests.js';

/** Documents the search for the changes of a log. */
const DOCUMENT = join(import.meta.dirname, '..', '..', 'docker', 'LOGS.md');
const BEARER = `Authorization: Bearer ${TOKEN}`;
const newToken = () => `tl_${randomBytes(32).toString('base64url')}`;

const database = useTestDatabase();
const inFolder = useFolder('time-logs-log-');

/** Returns the lines that the service logs at its lowest level during an action. */
async function logOf(
  work: (service: Target) => Promise<unknown>,
  env: Record<string, string> = {},
): Promise<{ text: string; lines: Line[]; line: (requestId: string) => Line | undefined }> {
  const settings = { DATABASE_URL: database.url, ACCESS_TOKEN: TOKEN, LOG_LEVEL: 'trace', ...env };
  const { port, end, written } = await startHere(settings);
  await work({ port, token: TOKEN }).finally(end);
  const lines = linesOf(written.log);
  const line = (id: string) => lines.find(({ requestId }) => requestId === id);
  return { text: written.log, lines, line };
}

/** Writes a request as it is; CR and LF in it are what a client sends to forge lines of the log. */
const sendLine = ({ port }: Target, target: string, ...headers: string[]) =>
  sendRaw(
    port,
    Buffer.from(rawRequest(`GET ${target} HTTP/1.1`, 'Host: x', ...headers, 'Connection: close'), 'latin1'),
  );

const create = (service: Target, description: string, requestId: string) =>
  post(service, { ...LOG, description }, { 'x-request-id': requestId });

describe('the log', () => {
  it('has a line of its own for each event, whatever a request holds: no line ends, no escape codes', async () => {
    const forged = '{"level":"fatal","msg":"forged"}';
    const { text, lines } = await logOf(async (service) => {
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
        await sendLine(service, `/nowhere/${evil}`, BEARER);
        await sendLine(service, `http://x/${evil}`, BEARER);
        await sendLine(service, `/health?${evil}`, `Authorization: Bearer ${evil}`);
        await sendLine(service, `${TIME_LOGS}?${evil}=1`, BEARER, `X-Request-Id: ${evil}`);
        await sendLine(service, '/health', BEARER, `X-Evil: ${evil}`, `User-Agent: ${evil}`);
        await create(service, evil, evil.replaceAll(/[^\x20-\x7e]/g, ''));
      }
    });
    expect(text).not.toMatch(/[\0-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]/);
    expect(lines.length).toBeGreaterThan(40);
    expect(lines.filter(({ level, msg }) => level === 'fatal' || msg === 'forged')).toEqual([]);
  });

  it('has failures of authentication by request id, also before routing, and never the token', async () => {
    const jwt = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJBZGEifQ.c2lnbmF0dXJl';
    const tokens = [newToken(), newToken(), newToken(), newToken(), TOKEN, jwt];
    const { text, line } = await logOf(async (service) => {
      for (const [id, target, ...headers] of [
        ['unknown-token', '/health', `Authorization: Bearer ${tokens[0]!}`],
        ['other-scheme', '/health', `Authorization: Basic ${tokens[1]!}`],
        ['in-query', `/health?access_token=${tokens[2]!}`],
        ['in-path', `/health/${tokens[3]!}`],
        ['two-in-path', `/${jwt}/${TOKEN}`],
        ['not-found', '/nowhere', BEARER],
        ['expecting', '/health', BEARER, 'Expect: more'],
      ] as const)
        await sendLine(service, target, ...headers, `X-Request-Id: ${id}`);
    });
    for (const id of ['unknown-token', 'other-scheme', 'in-query', 'in-path', 'two-in-path']) {
      expect(line(id)).toMatchObject({ level: 'info', method: 'GET', status: 401, error: 'UNAUTHORIZED' });
      expect(['/health', '(unknown)']).toContain(line(id)!.path);
    }
    expect(line('unknown-token')).toMatchObject({ path: '/health' });
    expect(line('not-found')).toMatchObject({ status: 404 });
    expect(line('expecting')).toMatchObject({ status: 417 });
    for (const token of tokens) expect(text).not.toContain(token.slice(3));
    expect(text).not.toContain('access_token');
  });

  it('has the number of logs of a batch and the first of them, and no name that was sent', async () => {
    let first: unknown;
    const { text, line } = await logOf(async (service) => {
      const batch = (id: string, ...timeLogs: object[]) =>
        createAll(service, { timeLogs }, { 'x-request-id': id });
      first = (dataOf(await batch('batch', LOG, LOG)) as { id: string }[])[0]!.id;
      await batch('refused-batch', LOG, { ...LOG, 'secret-name': 1 });
    });
    expect(line('batch')).toMatchObject({ level: 'debug', change: 'record', timeLog: first, timeLogs: 2 });
    expect(line('refused-batch')).toMatchObject({ status: 400, reason: 'timeLogs[1]: unknown field' });
    expect(text).not.toContain('secret-name');
  });

  it('has the faults of a request and its caller, and never a name or value that was sent', async () => {
    const { text, line } = await logOf(async (service) => {
      await create(service, 'private words\0', 'refused-create');
      await sendLine(service, `${TIME_LOGS}?secret-name=1&page=x`, BEARER, 'X-Request-Id: refused-list');
      await sendLine(service, '/metrics', BEARER, 'X-Request-Id: lacks-scope');
      const path = `${TIME_LOGS}/019c1370-4e1b-7000-8000-000000000001`;
      await send(service, path, { method: 'DELETE', headers: { 'x-request-id': 'refused-deletion' } });
    });
    const refusals = ['refused-create', 'refused-list', 'lacks-scope', 'refused-deletion'].map((id) => {
      const { level, status, reason, caller } = line(id)!;
      return [level, status, reason, caller];
    });
    const caller = expect.stringMatching(/^declared:[0-9a-f]{16}$/);
    expect(refusals).toEqual([
      ['info', 400, 'description must not contain U+0000', caller],
      ['info', 400, 'page must be a whole number from 1 to 2^53-1; unknown parameter', caller],
      ['info', 403, 'the token lacks the scope metrics:read', caller],
      ['info', 403, 'the token lacks the scope time-logs:correct', caller],
    ]);
    const refused = { method: 'POST', path: TIME_LOGS, error: 'VALIDATION_ERROR' };
    expect(line('refused-create')).toMatchObject(refused);
    expect(text).not.toMatch(/secret-name|private words/);
  });

  it('has who corrected or deleted a log, by its id, and at `debug` who recorded it', async () => {
    const env = { DATABASE_URL: database.url };
    const scopes = ['--scope', 'time-logs:write', '--scope', 'time-logs:correct'];
    const token = lastLineOf(await runHere('token', ['create', '--name', 'Clerk', ...scopes], env));
    const [, clerk] = /^(\S+) .*Clerk/m.exec((await runHere('token', ['list'], env)).stdout)!;
    const [query] = /^grep .*$/m.exec(await readFile(DOCUMENT, 'utf8'))!;
    const linesAt = async (level: string) => {
      let id = '';
      const { text } = await logOf(
        async ({ port }) => {
          const change = async (method: string, path: string, body?: object) => {
            const headers = { 'content-type': 'application/json', 'x-request-id': method };
            return send({ port, token }, path, { method, headers, body: body && JSON.stringify(body) });
          };
          ({ id } = ((await change('POST', TIME_LOGS, LOG)).body as { data: { id: string } }).data);
          // In the form of the log, whatever the caller writes.
          const path = `${TIME_LOGS}/${id.toUpperCase()}`;
          const words = { ...LOG, description: 'private words' };
          expect((await change('PUT', path, words)).status).toBe(200);
          expect((await change('DELETE', path)).status).toBe(204);
          expect((await change('DELETE', path)).status).toBe(404);
        },
        { LOG_LEVEL: level },
      );
      expect(text).not.toContain('private words');
      await writeFile(inFolder('service.log'), text);
      const found = spawnSync('sh', ['-c', query.replace('ID', id)], { cwd: inFolder(), encoding: 'utf8' });
      return linesOf(found.stdout).map(({ level, requestId, change, status, caller }) => {
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

  it('has a fault of the service by request id, with neither SQL nor its parameters, while the answer has no details', async () => {
    const { text, lines, line } = await logOf((service) =>
      withSql(database.url, async (owner) => {
        await owner.query(
          `create function fail() returns trigger language plpgsql as 'begin perform 1 / 0; return new; end';
           create trigger fail before insert on time_logs for each row execute function fail()`,
        );
        const answer = await create(service, 'private words', 'a-fault');
        expect([answer.status, answer.body]).toEqual([
          500,
          { success: false, error: 'INTERNAL_ERROR', message: 'internal error' },
        ]);
        await owner.query('drop function fail cascade');
      }),
    );
    expect(line('a-fault')).toMatchObject({ level: 'error', status: 500, error: 'INTERNAL_ERROR' });
    expect(lines.find(({ level, msg }) => level === 'error' && msg.includes('(a-fault)'))).toBeDefined();
    expect(text).not.toMatch(/private words|insert into|unnest/i);
  });
});
