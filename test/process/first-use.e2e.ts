import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { runProgram } from '../support/commands.js';
import { type Line, linesOf, runHere, startHere } from '../support/service-here.js';
import { DECLARED_TOKEN, environment } from '../support/environment.js';
import { useTestDatabase } from '../support/fixtures.js';
import { createTestDatabase } from '../support/test-database.js';

const run = promisify(execFile);
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
    const { stdout: answered } = await run('sh', pasted, { cwd: PROJECT, env: environment(env) });
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
