import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { type Line, linesOf, runHere, startHere } from '../support/service-here.js';
import { DECLARED_TOKEN, environment } from '../support/environment.js';
import { useFolder, useTestDatabase } from '../support/fixtures.js';
import { correct, remove, send } from '../support/requests.js';
import { startService } from '../support/service-process.js';
import { runProgram } from '../support/commands.js';
import { createTestDatabase } from '../support/test-database.js';

/** Runs a command of the first steps, as pasted. */
async function pasted(printed: string, index: number): Promise<Record<string, unknown>> {
  const commands = printed.split('\n\n').filter((command) => command.startsWith('curl '));
  const { stdout } = await promisify(execFile)('sh', ['-c', commands[index] ?? 'exit 1']);
  expect(stdout).toMatch(/\}\n$/);
  return JSON.parse(stdout) as Record<string, unknown>;
}

describe('the service without DATABASE_URL', () => {
  const inFolder = useFolder("time-logs' first steps ");
  const env = () => ({ DATA_DIR: inFolder(), DATABASE_URL: '' });
  // A new database for each.
  beforeEach(() => rm(inFolder(), { recursive: true, force: true }));
  const tokenFile = () => readFile(inFolder('access-token'), 'utf8');

  it('has a first token, also where another was made before, and lines that record a log and list it', async () => {
    await runHere('token', ['create', '--name', 'early'], env());
    const { port, end, written } = await startHere(env());
    await eventually(() => expect(written.said).toContain('Try it'));
    const { success, data } = (await pasted(written.said, 0)) as {
      success: boolean;
      data: Record<string, unknown>;
    };
    expect(success).toBe(true);
    const { date, ...item } = data;
    expect(date).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    const listed = await pasted(written.said, 1);
    expect(listed).toEqual({ success: true, data: [item], meta: { total: 1, page: 1, limit: 50 } });

    // Only its owner can read it, and it is not printed.
    const token = (await tokenFile()).trim();
    expect(token).toMatch(/^tl_[\w-]{43}$/);
    expect((await stat(inFolder('access-token'))).mode & 0o777).toBe(0o600);
    expect(written.log + written.said).not.toContain(token);

    // It may correct and delete too, but not read metrics.
    const service = { port, token };
    const { id } = ((await pasted(written.said, 0)) as { data: { id: string } }).data;
    const answers = [await correct(service, id), await remove(service, id), await send(service, '/metrics')];
    expect(answers.map(({ status }) => status)).toEqual([200, 204, 403]);
    await end();

    // It finds logs and token again, also after it was killed.
    const again = await startService(env());
    await again.printed(/Try it/);
    expect(await pasted(again.output(), 1)).toEqual(listed);
    await pasted(again.output(), 0);
    const before = await pasted(again.output(), 1);
    expect(before).toMatchObject({ meta: { total: 2 } });
    expect(await again.end('SIGKILL')).toBe('SIGKILL');
    const ATTRIBUTES_SCHEMA = join(import.meta.dirname, '..', '..', 'docker', 'attributes', 'person.json');
    const last = await startHere({ ...env(), ATTRIBUTES_SCHEMA });
    await eventually(() => expect(last.written.said).toContain('Try it'));
    expect(await pasted(last.written.said, 1)).toEqual(before);
    expect(await pasted(last.written.said, 0)).toMatchObject({ data: { attributes: { userId: 'me' } } });
    expect((await tokenFile()).trim()).toBe(token);
    await last.end();
  });

  it('ends with one line and exit code 1 when the embedded database ends, and starts again', async () => {
    const service = await startService(env());
    const closed = once(service.child, 'close');
    const { length } = service.output();
    const pid = Number.parseInt(await readFile(inFolder('postgres', 'postmaster.pid'), 'utf8'), 10);
    process.kill(pid, 'SIGKILL');
    expect(await closed).toEqual([1, null]);
    const lines = service.output().slice(length).split('\n');
    expect(lines.filter((line) => line.startsWith('the embedded PostgreSQL ended ('))).toHaveLength(1);
    await (await startHere(env())).end();
  });
});

const PROJECT = join(import.meta.dirname, '..', '..');
const NO_TOKEN =
  'There is no token here. Create one in the folder of the service, with its\nsettings (such as DATABASE_URL):';

/** Starts the service, ends it when it listens, and returns its output. */
async function written(env: Record<string, string>): Promise<{ log: Line[]; said: string }> {
  const service = await startHere(env);
  await service.end();
  const { log, said } = service.written;
  return { log: linesOf(log), said };
}

describe('the first use with a DATABASE_URL', () => {
  const database = useTestDatabase(createTestDatabase);

  it('says in a log of JSON alone which database and brokers it uses, and never their passwords', async () => {
    const url = new URL(database.url);
    url.password = 'sesame';
    // Drivers of brokers try again for as long as their process runs.
    const running = runProgram('dist/src/main.js', [], {
      HOST: '127.0.0.1',
      PORT: '0',
      DATABASE_URL: url.href,
      MESSAGES_URL: 'nats://ada:sesame@127.0.0.1:1',
      EVENTS_URL: 'amqp://ada:sesame@127.0.0.1:2/logs',
    });
    // It prints something on standard error when it listens.
    await once(running.child.stderr!, 'data');
    running.child.kill();
    const { code, stdout, stderr } = await running;
    const lines = linesOf(stdout).map(({ level, msg }) => [level, msg]);
    const server = `${decodeURIComponent(url.hostname)}/.s.PGSQL.5432`;
    for (const line of [
      ['info', `the database is ready: ${url.pathname.slice(1)} at ${server}`],
      [
        'info',
        expect.stringMatching(
          /^listening on port \d+ of 127[.]0[.]0[.]1; messages: nats:[/]{2}127[.]0[.]0[.]1:1; events: amqp:[/]{2}127[.]0[.]0[.]1:2[/]logs$/,
        ),
      ],
      ['info', 'shutting down'],
    ])
      expect(lines).toContainEqual(line);
    expect([code, stdout.includes('sesame')]).toEqual([0, false]);
    expect(stderr).toContain(NO_TOKEN);
  });

  it('prints on standard error how to make a token, and lines that record a log and list it, as pasted, until there is a token, and again where all are revoked, unless one is declared or others issue them', async () => {
    const env = { DATABASE_URL: database.url };
    const service = await startHere(env);
    await eventually(() => expect(service.written.said).toContain('Try it'));
    const { said } = service.written;
    expect(said).toContain(NO_TOKEN);
    const [make, ...calls] = said.split('\n\n').filter((command) => /^(TOKEN=|curl )/.test(command));
    expect([make, calls.length]).toEqual([
      'TOKEN=$(npm run --silent token -- create --name me | tail -n 1)',
      2,
    ]);
    const pasted = ['-c', [make, ...calls].join('\n')];
    const { stdout: answered } = await promisify(execFile)('sh', pasted, {
      cwd: PROJECT,
      env: environment(env),
    });
    const answers = answered.trim().split('\n');
    expect(answers.map((answer) => JSON.parse(answer) as object)).toMatchObject([
      { success: true },
      { success: true, meta: { total: 1 } },
    ]);
    await service.end();
    expect((await written(env)).said).toBe('');
    const { stdout } = await runHere('token', ['list'], env);
    for (const [id] of stdout.matchAll(/^[-0-9a-f]{36}(?= )/gm)) await runHere('token', ['revoke', id], env);
    expect((await written(env)).said).toMatch(`\n${NO_TOKEN}\n`);
    const { log, said: saidInProduction } = await written({ ...env, NODE_ENV: 'production' });
    expect([saidInProduction, log.map(({ msg }) => msg)]).toEqual([
      '',
      expect.arrayContaining([
        'no token is valid: create one with npm run --silent token -- create --name NAME',
      ]),
    ]);
    expect((await written({ ...env, ACCESS_TOKEN: DECLARED_TOKEN })).said).toBe('');
    const AUTH_JWKS_URL = 'http://127.0.0.1:1/';
    expect((await written({ ...env, AUTH_JWKS_URL, AUTH_ISSUER: 'i', AUTH_AUDIENCE: 'a' })).said).toBe('');
  });
});
