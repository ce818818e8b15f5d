import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { LossyProxy } from '../support/lossy-proxy.js';
import { PostgresCluster } from '../support/postgres-cluster.js';
import { runCommand, runProgram } from '../support/commands.js';
import { runHere } from '../support/commands-here.js';
import { endProcess, spawnService } from '../support/service-process.js';

const start = (env: Record<string, string>) =>
  runProgram(join('dist', 'src', 'main.js'), [], { HOST: '127.0.0.1', PORT: '0', ...env });

describe('a start that cannot come to its end', () => {
  let directory: string;
  let postgres: PostgresCluster;
  let proxy: LossyProxy;
  let server: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'time-logs-passwords-'));
    await chmod(directory, 0o755);
    const hba_file = join(directory, 'pg_hba.conf');
    await writeFile(hba_file, 'local all postgres trust\nlocal all all scram-sha-256\n');
    postgres = await PostgresCluster.create({ hba_file });
    await postgres.query(`create role ada login password 'sesame'`);
    await postgres.query('create database logs owner ada');
    proxy = new LossyProxy(postgres.socket);
    server = `127.0.0.1:${await proxy.listen()}`;
  });
  afterAll(async () => {
    proxy.close();
    await postgres.remove();
    await rm(directory, { recursive: true });
  });

  const MESSAGES: Record<string, () => string> = {
    'eve:sesame@SERVER/logs': () =>
      `${server} refuses the role eve (password authentication failed for user "eve"): check user and password in DATABASE_URL`,
    'ada:wrong@SERVER/logs': () =>
      `${server} refuses the role ada (password authentication failed for user "ada"): check user and password in DATABASE_URL`,
    'ada@SERVER/logs': () => `${server} asks the role ada for a password: put one into DATABASE_URL`,
    'ada:sesame@SERVER/loggs': () =>
      `there is no database loggs at ${server}: make it, or name another one in DATABASE_URL`,
    'ada:sesame@SERVER/logs?sslmode=require': () =>
      `${server} has no TLS, which DATABASE_URL asks for: switch it on there, or leave sslmode out where the network is safe`,
    'ada:sesame@SERVER/lo%00gs': () =>
      'DATABASE_URL: must not have %00: no name or password of PostgreSQL has that character',
    'ada:sesame@SERVER/logs?host=': () =>
      'DATABASE_URL: must name the server in host, or leave that parameter out',
  };

  it.each(Object.entries(MESSAGES))(
    'says in one line and at once what is wrong with %s',
    async (address, message) => {
      const env = { DATABASE_URL: `postgres://${address.replace('SERVER', server)}` };
      expect(await runHere('migrate', [], env)).toEqual({ code: 1, stdout: '', stderr: `${message()}\n` });
    },
  );

  it('ends at once too, and names the setting that is wrong, as commands do', async () => {
    const env = {
      DATABASE_URL: `postgres://ada:sesame@${server}/logs`,
      MIGRATION_DATABASE_URL: `postgres://ada:wrong@${server}/logs`,
    };
    const refused = `${server} refuses the role ada (password authentication failed for user "ada"): check user and password in`;
    for (const outcome of [
      await start(env),
      await runHere('migrate', [], env),
      await runHere('counts', ['verify'], env),
      await runHere('backup', [join(directory, 'file')], env),
    ])
      expect(outcome).toMatchObject({ code: 1, stderr: `${refused} MIGRATION_DATABASE_URL\n` });
    const { stderr } = await runHere('token', ['list'], { DATABASE_URL: env.MIGRATION_DATABASE_URL });
    expect(stderr).toBe(`${refused} DATABASE_URL\n`);
  });

  it('says for how long it waits for a host that does not exist, and for which', async () => {
    const { child, output } = spawnService({ DATABASE_URL: 'postgres://ada:sesame@db.invalid/logs' });
    try {
      while (!output().includes('waiting')) await once(child.stdout!, 'data');
      const { level, msg } = JSON.parse(output()) as Record<string, string>;
      expect([level, msg]).toEqual([
        'warn',
        expect.stringMatching(
          /^waiting for the database at db\.invalid:5432, 15 s at most: the name db\.invalid has no address \(E\w+\)$/,
        ),
      ]);
      expect(await endProcess(child)).toBe(0);
    } finally {
      await endProcess(child, 'SIGKILL');
    }
  });

  it('is told by a command in a line beside its result', async () => {
    const migrating = runCommand('migrate', [], { DATABASE_URL: 'postgres://ada:sesame@127.0.0.1:1/logs' });
    await once(migrating.child.stderr!, 'data');
    migrating.child.kill();
    expect(await migrating).toEqual({
      code: null,
      stdout: '',
      stderr: expect.stringMatching(
        /^ +\d s {2}waiting for the database at 127\.0\.0\.1:1, 15 s at most: connect ECONNREFUSED 127\.0\.0\.1:1\n$/,
      ),
    });
  });
});

describe('a name that is one edit from a setting', () => {
  const nowhere = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' };
  const slip = 'DATABSE_URL is no setting and has no effect: DATABASE_URL is one';

  it('is told once, in the log', async () => {
    const { child, output } = spawnService({ ...nowhere, DATABSE_URL: 'postgres://a:b@c/d' });
    try {
      while (!output().includes('waiting')) await once(child.stdout!, 'data');
      const lines = output().trim().split('\n');
      const told = lines.map((line) => JSON.parse(line) as Record<string, string>);
      expect(told.filter(({ msg }) => msg!.includes('DATABSE_URL'))).toEqual([
        expect.objectContaining({ level: 'warn', msg: slip }),
      ]);
    } finally {
      await endProcess(child, 'SIGKILL');
    }
  });

  it('is told once by a command, beside its result', async () => {
    const { stderr } = await runCommand('token', ['list'], { ...nowhere, DATABSE_URL: 'x' });
    expect(stderr.split('\n').filter((line) => line.includes('DATABSE_URL'))).toEqual([slip]);
  });

  it('is told with what is wrong, which it may explain, but not where it is empty', async () => {
    const fault = 'MIGRATION_DATABASE_URL: goes with DATABASE_URL; the embedded database needs neither';
    const env = { MIGRATION_DATABASE_URL: nowhere.DATABASE_URL };
    expect(await start({ ...env, DATABSE_URL: 'x' })).toMatchObject({
      code: 1,
      stderr: `${fault}\n${slip}\n`,
    });
    expect(await start({ ...env, DATABSE_URL: '' })).toMatchObject({ code: 1, stderr: `${fault}\n` });
  });
});
