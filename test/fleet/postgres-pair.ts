import { copyFile, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { eventually } from '../faults/support/eventually.js';
import { queryOnce } from '../faults/support/postgres-cluster.js';
import { unusedPort } from '../messages/brokers.js';
import { Daemon, give, type Owner, postgresAccount } from './daemon.js';

const DOCKER = join(import.meta.dirname, '..', '..', 'docker');
const PROGRAMS = '/usr/lib/postgresql/15/bin';
const PASSWORD = 'a-password-of-the-test';
/** Milliseconds. A machine that is gone is replaced after 20 s. */
const LIMIT = 120_000;

/** A PostgreSQL with the Patroni that looks after it. */
class Member {
  private patroni: Daemon | undefined;

  private constructor(
    readonly name: string,
    private readonly place: string,
    readonly port: number,
    readonly restPort: number,
    private readonly etcdPort: number,
    private readonly owner: Owner,
  ) {}

  static async create(name: string, place: string, etcdPort: number): Promise<Member> {
    const directory = join(place, name);
    await mkdir(directory, { mode: 0o700 });
    const owner = await postgresAccount();
    await give(directory, owner);
    return new Member(name, place, await unusedPort(), await unusedPort(), etcdPort, owner);
  }

  private get directory(): string {
    return join(this.place, this.name);
  }

  start(): void {
    const [here, rest] = [`127.0.0.1:${this.port}`, `127.0.0.1:${this.restPort}`];
    this.patroni = Daemon.start(
      ['patroni', join(this.place, 'patroni.yaml')],
      {
        PATRONI_NAME: this.name,
        // Patroni 3.0 may have two primaries over version 3 of etcd's protocol, after it was frozen.
        PATRONI_ETCD_HOSTS: `127.0.0.1:${this.etcdPort}`,
        PATRONI_POSTGRESQL_LISTEN: here,
        PATRONI_POSTGRESQL_CONNECT_ADDRESS: here,
        PATRONI_POSTGRESQL_DATA_DIR: join(this.directory, 'data'),
        PATRONI_POSTGRESQL_BIN_DIR: PROGRAMS,
        PATRONI_POSTGRESQL_PGPASS: join(this.directory, 'pgpass'),
        PATRONI_RESTAPI_LISTEN: rest,
        PATRONI_RESTAPI_CONNECT_ADDRESS: rest,
        PATRONI_SUPERUSER_USERNAME: 'postgres',
        PATRONI_SUPERUSER_PASSWORD: PASSWORD,
        PATRONI_REPLICATION_USERNAME: 'replicator',
        PATRONI_REPLICATION_PASSWORD: PASSWORD,
        DATABASE_PASSWORD: PASSWORD,
        OWNER_SQL: join(this.place, 'owner.sql'),
      },
      this.owner,
    );
  }

  get output(): string {
    return this.patroni?.output ?? '';
  }

  /** Runs a statement as the superuser. */
  query<Row extends object>(sql: string): Promise<Row[]> {
    return queryOnce<Row & Record<string, unknown>>(
      `postgres://postgres:${PASSWORD}@127.0.0.1:${this.port}/postgres`,
      sql,
    );
  }

  /** Does something while this standby takes everything, and shows nothing of it. */
  async withoutReplay(act: () => Promise<void>): Promise<void> {
    // Otherwise it has the replay go on within 5 s.
    await this.pausePatroni(true);
    const isPaused = async () =>
      expect(await this.query('select pg_get_wal_replay_pause_state() as state')).toEqual([
        { state: 'paused' },
      ]);
    await this.query('select pg_wal_replay_pause()');
    try {
      await eventually(isPaused);
      await act();
      await isPaused();
    } finally {
      await this.query('select pg_wal_replay_resume()');
      await this.pausePatroni(false);
    }
  }

  /** Has Patroni leave everything as it is, or not any more; resolves when it knows. */
  private async pausePatroni(isPaused: boolean): Promise<void> {
    await this.send('PATCH', 'config', { pause: isPaused || null });
    await eventually(async () => {
      const answer = await fetch(`http://127.0.0.1:${this.restPort}/patroni`);
      expect(((await answer.json()) as { pause?: boolean }).pause ?? false).toBe(isPaused);
    });
  }

  /** Whether Patroni answers 200 to a question for its role, such as `primary`. */
  async is(role: string): Promise<boolean> {
    const answer = await fetch(`http://127.0.0.1:${this.restPort}/${role}`).catch(() => undefined);
    return answer?.status === 200;
  }

  /** Asks Patroni for a change. */
  async send(method: 'POST' | 'PATCH', path: string, body: object): Promise<void> {
    const answer = await fetch(`http://127.0.0.1:${this.restPort}/${path}`, {
      method,
      body: JSON.stringify(body),
    });
    expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)]);
  }

  /** Kills the server. Patroni goes on. */
  async killServer(): Promise<void> {
    const file = join(this.directory, 'data', 'postmaster.pid');
    const pid = Number((await readFile(file, 'utf8').catch(() => '')).split('\n')[0]);
    // A server that Patroni runs for itself, to repair its files, writes a negative one, which would mean a group.
    if (!(pid > 0)) return;
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }

  /** Kills the server and its Patroni, as a machine does that loses its power. */
  async killMachine(): Promise<void> {
    await this.patroni?.end('SIGKILL');
    await this.killServer();
  }

  async stop(): Promise<void> {
    await this.patroni?.end();
    await this.killServer();
  }
}

/** Two PostgreSQLs under Patroni, one the primary and one its synchronous standby. */
export class PostgresPair {
  private constructor(
    private readonly etcd: Daemon,
    readonly members: readonly [Member, Member],
  ) {}

  static async start(place: string): Promise<PostgresPair> {
    // Where the user postgres can read them.
    await copyFile(join(DOCKER, 'fleet', 'patroni.yaml'), join(place, 'patroni.yaml'));
    await copyFile(join(DOCKER, 'owner.sql'), join(place, 'owner.sql'));
    const [clients, peers] = [await unusedPort(), await unusedPort()];
    const url = (port: number) => `http://127.0.0.1:${port}`;
    const etcd = Daemon.start([
      'etcd',
      '--enable-v2=true',
      `--data-dir=${join(place, 'etcd')}`,
      `--listen-client-urls=${url(clients)}`,
      `--advertise-client-urls=${url(clients)}`,
      `--listen-peer-urls=${url(peers)}`,
      `--initial-advertise-peer-urls=${url(peers)}`,
      `--initial-cluster=default=${url(peers)}`,
    ]);
    const members = [
      await Member.create('postgres-1', place, clients),
      await Member.create('postgres-2', place, clients),
    ] as const;
    const pair = new PostgresPair(etcd, members);
    try {
      await eventually(async () => expect((await fetch(`${url(clients)}/health`)).status).toBe(200), LIMIT);
      for (const member of members) member.start();
      await pair.whole();
    } catch (error) {
      await pair.stop();
      throw error;
    }
    return pair;
  }

  /** Resolves with primary and synchronous standby as soon as both are there. */
  async whole(): Promise<{ primary: Member; standby: Member }> {
    try {
      return await eventually(async () => {
        const roles = await Promise.all(
          this.members.map(async (member) => [await member.is('primary'), await member.is('synchronous')]),
        );
        const [first, second] = this.members;
        if (roles[0]![0] && roles[1]![1]) return { primary: first, standby: second };
        if (roles[1]![0] && roles[0]![1]) return { primary: second, standby: first };
        throw new Error(`not primary and synchronous standby: ${JSON.stringify(roles)}`);
      }, LIMIT);
    } catch (error) {
      const logs = this.members.map(({ name, output }) => `${name}:\n${output.slice(-3_000)}`).join('\n');
      throw new Error(`${String(error)}\n${logs}`, { cause: error });
    }
  }

  /** The URL of the service's database, at a port that leads there. */
  url(port: number): string {
    return `postgres://time_logs:${PASSWORD}@127.0.0.1:${port}/time_logs`;
  }

  async stop(): Promise<void> {
    for (const member of this.members) await member.stop();
    await this.etcd.end('SIGKILL');
  }
}
