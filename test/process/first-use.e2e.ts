import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../../src/time-log/contract/eventually.js';
import { runHere } from '../support/commands-here.js';
import { environment } from '../support/environment.js';
import { startHere } from '../support/service-here.js';
import { spawnService } from '../support/service-process.js';
import { createMigratedDatabase, createTestDatabase, type TestDatabase } from '../support/test-database.js';

const run = promisify(execFile);
const PROJECT = join(import.meta.dirname, '..', '..');
const NO_TOKEN =
  'There is no token yet. In the folder of the service, with its settings (such as DATABASE_URL), this makes one:';

interface Line {
  readonly level: string;
  readonly msg: string;
}

/** What a start prints until it listens, and is told to end. */
async function written(env: Record<string, string>): Promise<{ log: Line[]; said: string }> {
  const service = await startHere(env);
  await service.end();
  const { log, said } = service.written;
  return { log: linesOf(log), said };
}

/** The same of a process: what its standard output has, and what its standard error. */
async function printed(env: Record<string, string>): Promise<{ log: Line[]; stderr: string }> {
  const { child } = spawnService({ HOST: '127.0.0.1', PORT: '0', ...env });
  const stderr = text(child.stderr!);
  let stdout = '';
  child.stdout!.on('data', (chunk) => {
    stdout += String(chunk);
    if (stdout.includes('listening on')) child.kill();
  });
  await once(child, 'close');
  return { log: linesOf(stdout), stderr: await stderr };
}

/** Throws where one is no line of JSON. */
function linesOf(text: string): Line[] {
  const lines = text.trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as Line);
}

describe('the first use with a DATABASE_URL', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  it('says in a log of JSON alone which database it uses, what is open, and who gets events', async () => {
    const url = new URL(database.url);
    url.password = 'sesame';
    const { log } = await printed({ DATABASE_URL: url.href });
    const server = `${decodeURIComponent(url.hostname)}/.s.PGSQL.5432`;
    expect(log.map(({ level, msg }) => [level, msg])).toEqual([
      ['warn', 'a commit waits for no disk, since fsync is off: a crash of the database loses logs'],
      ['info', `the database is ready: ${url.pathname.slice(1)} at ${server}`],
      [
        'info',
        expect.stringMatching(
          /^listening on port \d+ of 127[.]0[.]0[.]1; messages: none [(]MESSAGES_URL[)]; events: none [(]EVENTS_URL[)]$/,
        ),
      ],
      ['info', 'shutting down'],
    ]);
    expect(JSON.stringify(log)).not.toContain('sesame');
  });

  it('names doors and broker, and never their passwords', async () => {
    const { log } = await printed({
      DATABASE_URL: database.url,
      MESSAGES_URL: 'nats://ada:sesame@127.0.0.1:1',
      EVENTS_URL: 'amqp://ada:sesame@127.0.0.1:2/logs',
    });
    expect(log.map(({ msg }) => msg)).toContainEqual(
      expect.stringMatching(
        /; messages: nats:[/]{2}127[.]0[.]0[.]1:1; events: amqp:[/]{2}127[.]0[.]0[.]1:2[/]logs$/,
      ),
    );
    expect(JSON.stringify(log)).not.toContain('sesame');
  });

  it('prints beside the log how to make a token, and lines that record a log and list it, as pasted', async () => {
    const service = await startHere({ DATABASE_URL: database.url });
    try {
      await eventually(() => expect(service.written.said).toContain('Try it'));
      const { said } = service.written;
      expect(said).toContain(NO_TOKEN);
      const [make, ...calls] = said.match(/^(TOKEN=|curl ).*$/gm) ?? [];
      expect([make, calls.length]).toEqual([
        'TOKEN=$(npm run --silent token -- create --name me | tail -n 1)',
        2,
      ]);
      const env = environment({ DATABASE_URL: database.url });
      const { stdout } = await run('sh', ['-c', [make, ...calls].join('\n')], { cwd: PROJECT, env });
      const [created, list] = stdout
        .trim()
        .split('\n')
        .map((answer) => JSON.parse(answer) as Answer);
      expect([created?.success, list]).toMatchObject([true, { success: true, meta: { total: 1 } }]);
    } finally {
      await service.end();
    }
  });

  it('says no more of it once there is a token', async () => {
    expect((await written({ DATABASE_URL: database.url })).said).toBe('');
  });

  it.each([
    ['where all tokens are revoked', {}, NO_TOKEN],
    ['where one is declared', { ACCESS_TOKEN: 'a-token-that-the-deployment-declares' }, ''],
    [
      'where others issue them',
      { AUTH_JWKS_URL: 'http://127.0.0.1:1/', AUTH_ISSUER: 'i', AUTH_AUDIENCE: 'a' },
      '',
    ],
  ])('says what to do %s', async (_where, settings, advice) => {
    const own = await createMigratedDatabase();
    try {
      const env = { DATABASE_URL: own.url };
      const { stdout } = await runHere('token', ['create', '--name', 'Ada'], env);
      await runHere('token', ['revoke', /^Token (\S+)/.exec(stdout)![1]!], env);
      const { said } = await written({ ...env, ...settings });
      expect(said.split('\n').find((line) => line !== '') ?? '').toBe(advice);
    } finally {
      await own.drop();
    }
  });
});

interface Answer {
  readonly success: boolean;
}

describe('a start with the embedded database', () => {
  it('says where that lies, in a log of JSON alone, and the first steps beside it', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'time-logs-first-use-'));
    try {
      const { log, stderr } = await printed({ DATA_DIR: directory });
      expect(log.map(({ level, msg }) => [level, msg])).toEqual([
        ['info', `the database is ready: embedded, in ${directory}/postgres`],
        ['info', expect.stringMatching(/^listening on port \d+ of 127[.]0[.]0[.]1;/)],
        ['info', 'shutting down'],
      ]);
      expect(stderr).toMatch(/^\nRecord a log:\n\ncurl .*\n\nList the logs:\n\ncurl .*\n\nTry it: .*\n\n$/);
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});
