import { chmod, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { runCommand, runProgram } from '../support/commands.js';
import { linesOf, runHere, startHere } from '../support/service-here.js';
import { useFolder } from '../support/fixtures.js';
import { LossyProxy } from '../support/lossy-proxy.js';
import { PostgresCluster } from '../support/postgres-cluster.js';
import { endProcess, spawnService } from '../support/service-process.js';

const gone = 'gone since 0.4, and without effect: DEADLINE, WRITE_QUEUE';

describe('a start that cannot come to its end', () => {
  const inFolder = useFolder('time-logs-passwords-');
  let postgres: PostgresCluster;
  let proxy: LossyProxy;
  let server: string;

  beforeAll(async () => {
    await chmod(inFolder(), 0o755);
    const hba_file = inFolder('pg_hba.conf');
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
  });

  it.each([
    [
      'eve:sesame@SERVER/logs',
      'SERVER refuses the role eve (password authentication failed for user "eve"): check user and password in DATABASE_URL',
    ],
    [
      'ada:wrong@SERVER/logs',
      'SERVER refuses the role ada (password authentication failed for user "ada"): check user and password in DATABASE_URL',
    ],
    ['ada@SERVER/logs', 'SERVER requires a password for the role ada: add one to DATABASE_URL'],
    [
      'ada:sesame@SERVER/loggs',
      'there is no database loggs at SERVER: create it, or name another one in DATABASE_URL',
    ],
    [
      'ada:sesame@SERVER/logs?sslmode=require',
      'SERVER does not support TLS, which DATABASE_URL requires: enable it there, or remove sslmode if the network is safe',
    ],
  ])('says in one line and at once what is wrong with %s', async (address, message) => {
    const env = { DATABASE_URL: `postgres://${address.replace('SERVER', server)}` };
    const stderr = `${message.replace('SERVER', server)}\n`;
    expect(await runHere('migrate', [], env)).toEqual({ code: 1, stdout: '', stderr });
  });

  it('ends at once too, and names the setting that is wrong, as commands do', async () => {
    const env = {
      DATABASE_URL: `postgres://ada:sesame@${server}/logs`,
      MIGRATION_DATABASE_URL: `postgres://ada:wrong@${server}/logs`,
    };
    const refused = `${server} refuses the role ada (password authentication failed for user "ada"): check user and password in`;
    for (const outcome of [
      await runHere('migrate', [], env),
      await runHere('counts', ['verify'], env),
      await runHere('backup', [inFolder('file')], env),
    ])
      expect(outcome).toMatchObject({ code: 1, stderr: `${refused} MIGRATION_DATABASE_URL\n` });
    const { stderr } = await runHere('token', ['list'], { DATABASE_URL: env.MIGRATION_DATABASE_URL });
    expect(stderr).toBe(`${refused} DATABASE_URL\n`);
    // Last: the start goes on in the background, and Nest logs it.
    const message = `${refused} MIGRATION_DATABASE_URL`;
    await expect(startHere(env)).rejects.toMatchObject({ message });
  });

  it('says for how long it waits and for which host, what is gone, and exits with 0 on a signal', async () => {
    const { child, output, printed } = spawnService({
      DATABASE_URL: 'postgres://ada:sesame@db.invalid/logs',
      DEADLINE: '5',
      WRITE_QUEUE: '2000',
    });
    await printed(/waiting.*\n/);
    expect(linesOf(output()).map(({ level, msg }) => [level, msg])).toEqual([
      ['warn', gone],
      [
        'warn',
        expect.stringMatching(
          /^waiting for the database at db\.invalid:5432, 15 s at most: the name db\.invalid has no address \(E\w+\)$/,
        ),
      ],
    ]);
    expect(await endProcess(child)).toBe(0);
  });

  it('is printed by a command in lines on standard error', async () => {
    const migrating = runCommand('migrate', [], {
      DATABASE_URL: 'postgres://ada:sesame@127.0.0.1:1/logs',
      DEADLINE: '5',
      WRITE_QUEUE: '2000',
    });
    let said = '';
    migrating.child.stderr!.on('data', (chunk) => (said += String(chunk)));
    await eventually(() => expect(said).toContain('waiting'));
    migrating.child.kill();
    const { code, stdout, stderr } = await migrating;
    expect([code, stdout, stderr.split('\n')]).toEqual([
      null,
      '',
      [
        gone,
        expect.stringMatching(
          /^ +\d+ s {2}waiting for the database at 127\.0\.0\.1:1, 15 s at most: connect ECONNREFUSED 127\.0\.0\.1:1$/,
        ),
        '',
      ],
    ]);
  });
});

it('ends in one line with a setting that lacks its partner', async () => {
  const env = { MIGRATION_DATABASE_URL: 'postgres://127.0.0.1:1/none', DATABASE_URL: '' };
  const fault = 'MIGRATION_DATABASE_URL: needs DATABASE_URL; the embedded database needs neither';
  expect(await runProgram('dist/src/main.js', [], env)).toEqual({
    code: 1,
    stdout: '',
    stderr: `${fault}\n`,
  });
});
