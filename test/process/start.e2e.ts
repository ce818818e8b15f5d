import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { addRows, withSql } from '../support/backup-rows.js';
import { DECLARED_TOKEN } from '../support/environment.js';
import { useFolder, useTestDatabase } from '../support/fixtures.js';
import { create, dataOf, list } from '../support/requests.js';
import { linesOf, runHere, startHere } from '../support/service-here.js';
import { chmod, writeFile } from 'node:fs/promises';
import { LossyProxy } from '../support/lossy-proxy.js';
import { PostgresCluster } from '../support/postgres-cluster.js';
import { endProcess, spawnService } from '../support/service-process.js';

/** A line of the log about what the service does at every start. */
const isRoutine = (line: string) => line.startsWith('{"level":"info"');

/** Returns the last lines that main.ts prints. All others are routine. */
async function faultOf(env: Record<string, string>): Promise<string> {
  const written = { log: '', said: '' };
  const fault = await startHere(env, written).then(
    ({ end }) => end().then(() => undefined),
    (error: unknown) => (error as Error).message,
  );
  const lines = (written.log + written.said).split('\n');
  expect(lines.filter((line) => line !== '' && !isRoutine(line))).toEqual([]);
  return fault ?? 'none';
}

describe('a start of the service', () => {
  const database = useTestDatabase();
  const full = useTestDatabase();
  const inFolder = useFolder('time-logs-start-');
  /** Listens on a port that the service cannot have. */
  let other: Server;

  beforeAll(async () => {
    other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
  });
  afterAll(() => void other.close());

  it.each([
    ['its own', () => ({ DATA_DIR: inFolder('data') })],
    ['not its own', () => ({ DATABASE_URL: database.url })],
  ])('says in one line that its port is taken, where the database is %s', async (_whose, settings) => {
    const { port } = other.address() as AddressInfo;
    expect(await faultOf({ ...settings(), PORT: String(port), SHUTDOWN_DELAY: '3600' })).toBe(
      `port ${port} is in use: stop the program that listens on it, or set PORT to another one`,
    );
  });

  it.each([
    ['192.0.2.1', '192.0.2.1 is not an address of this machine: set HOST to one, or remove it'],
    [
      'host.invalid',
      'the name host.invalid has no address: set HOST to an address of this machine, or remove it',
    ],
  ])('says in one line that it cannot listen on %s', async (HOST, message) => {
    expect(await faultOf({ DATABASE_URL: database.url, HOST })).toBe(message);
  });

  it.each(['/proc/x', '/dev/null/x'])('says in one line that %s cannot hold its data', async (DATA_DIR) => {
    expect(await faultOf({ DATA_DIR })).toMatch(
      new RegExp(
        `^the data directory ${DATA_DIR}/postgres cannot be used \\(.*\\): set DATA_DIR to a directory that the service may write to$`,
      ),
    );
  });

  it('says in one line what to do if the database has no room for new positions', async () => {
    await withSql(full.url, async (sql) => {
      await addRows(sql, 1, 1);
      await sql.query('update time_logs set position = 9223372036854775807');
    });
    expect(await faultOf({ DATABASE_URL: full.url })).toMatch(
      /^there is no room for new positions after 9223372036854775807: run update .*$/,
    );
  });

  it.each([
    [{ NODE_ENV: 'production', HOST: '' }, 1],
    [{ NODE_ENV: 'production', HOST: '127.0.0.1' }, 0],
    [{ HOST: '' }, 0],
  ])('says with %j in %i lines that it listens on all interfaces without TLS', async (env, count) => {
    const settings = { DATABASE_URL: database.url, ACCESS_TOKEN: DECLARED_TOKEN };
    const { written, end } = await startHere({ ...settings, ...env });
    await end();
    const lines = linesOf(written.log).filter(({ msg }) => msg.includes('all interfaces without TLS'));
    expect(lines.map(({ level }) => level)).toEqual(Array(count).fill('warn'));
  });

  it('keeps days and instants as they are in another time zone', async () => {
    const { env } = serviceGlobal.process;
    const { TZ: before } = env;
    env.TZ = 'Pacific/Apia';
    try {
      expect(new serviceGlobal.Date(2026, 0, 1).getTimezoneOffset()).toBe(-780);
      const { port, end } = await startHere({ DATABASE_URL: database.url, ACCESS_TOKEN: DECLARED_TOKEN });
      const service = { port, token: DECLARED_TOKEN };
      // Days that a clock change, a skipped day (2011-12-30) or local mean time could shift.
      for (const date of ['0001-01-01', '1900-01-01', '2011-12-30', '2024-02-29', '9999-12-31']) {
        const projectId = crypto.randomUUID();
        const earliest = Date.now();
        const answer = await create(service, { projectId, duration: 1, date });
        const data = dataOf(answer) as { date: string; createdAt: string };
        expect([answer.status, data.date]).toEqual([201, date]);
        expect(Date.parse(data.createdAt)).toBeGreaterThanOrEqual(earliest);
        expect(Date.parse(data.createdAt)).toBeLessThanOrEqual(Date.now());
        const query = `projectId=${projectId}&from=${date}T23:59:59%2B14:00&to=${date}T00:00-12:00`;
        expect(dataOf(await list(service, query))).toHaveLength(1);
      }
      await end();
    } finally {
      if (before === undefined) delete env.TZ;
      else env.TZ = before;
    }
  });
});

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
});
