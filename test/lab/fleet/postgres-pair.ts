import { once } from 'node:events';
import { chmod, copyFile, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { queryOnce } from '../../support/postgres-cluster.js';
import { endProcess, type Printing } from '../../support/service-process.js';
import { unusedPort } from '../../support/unused-port.js';
import { fetchOver, identityOf } from './certificates.js';
import { give, type Owner, postgresAccount, startDaemon } from './daemon.js';

const DOCKER = join(import.meta.dirname, '..', '..', '..', 'docker');
const PROGRAMS = '/usr/lib/postgresql/15/bin';
/** The password of the service's role. */
const PASSWORD = 'a-password-of-the-test';

/** The URL of a database, whose server must have a certificate of the CA. */
const verified = (certificates: string, url: string) =>
  `${url}?sslmode=verify-full&sslrootcert=${join(certificates, 'ca.crt')}`;

/** A PostgreSQL with the Patroni that looks after it. */
class Member {
  private patroni: Printing | undefined;

  private constructor(
    readonly name: string,
    private readonly place: string,
    readonly port: number,
    readonly restPort: number,
    private readonly etcdPort: number,
    private readonly certificates: string,
    private readonly owner: Owner,
  ) {}

  static async create(
    name: string,
    { place, etcdPort, certificates }: { place: string; etcdPort: number; certificates: string },
  ): Promise<Member> {
    const owner = await postgresAccount();
    for (const directory of [join(place, name), join(place, name, 'private')]) {
      await mkdir(directory, { mode: 0o700 });
      await give(directory, owner);
    }
    const ports = [await unusedPort(), await unusedPort()] as const;
    const member = new Member(name, place, ...ports, etcdPort, certificates, owner);
    await member.takeCertificate();
    return member;
  }

  /** The environment of its container. */
  private get environment(): Record<string, string> {
    const [here, rest] = [`127.0.0.1:${this.port}`, `127.0.0.1:${this.restPort}`];
    const [data, secrets] = [join(this.directory, 'data'), join(this.directory, 'private')];
    const [ca, pem] = [join(secrets, 'ca.crt'), join(secrets, 'tls.pem')];
    return {
      PATRONICTL_CONFIG_FILE: join(this.place, 'patroni.yaml'),
      PATRONI_NAME: this.name,
      // Patroni 3.0 may have two primaries over version 3 of etcd's protocol, after it was frozen.
      PATRONI_ETCD_HOSTS: `127.0.0.1:${this.etcdPort}`,
      PATRONI_ETCD_PROTOCOL: 'https',
      PATRONI_ETCD_CACERT: ca,
      PATRONI_ETCD_CERT: pem,
      PATRONI_POSTGRESQL_LISTEN: here,
      PATRONI_POSTGRESQL_CONNECT_ADDRESS: here,
      PATRONI_POSTGRESQL_DATA_DIR: data,
      PATRONI_POSTGRESQL_BIN_DIR: PROGRAMS,
      PATRONI_POSTGRESQL_PGPASS: join(this.directory, 'pgpass'),
      PATRONI_RESTAPI_LISTEN: rest,
      PATRONI_RESTAPI_CONNECT_ADDRESS: rest,
      PATRONI_RESTAPI_CAFILE: ca,
      PATRONI_RESTAPI_CERTFILE: pem,
      PATRONI_CTL_CACERT: ca,
      PATRONI_CTL_CERTFILE: pem,
      PGSSLROOTCERT: ca,
      PGSSLCERT: pem,
      PGSSLKEY: pem,
      DATABASE_PASSWORD: PASSWORD,
      WATCH_PASSWORD: PASSWORD,
      OWNER_SQL: join(this.place, 'owner.sql'),
      PGPORT: String(this.port),
      PGBACKREST_CONFIG: join(this.place, 'pgbackrest.conf'),
      PGBACKREST_LOCK_PATH: join(this.directory, 'locks'),
      PGBACKREST_REPO1_PATH: join(this.place, 'pgbackrest'),
      PGBACKREST_PG1_PATH: data,
      PGBACKREST_PG1_PORT: String(this.port),
      PGBACKREST_PG1_SOCKET_PATH: secrets,
    };
  }

  private get directory(): string {
    return join(this.place, this.name);
  }

  /** Takes the certificate that was made for it, as its container does. */
  async takeCertificate(): Promise<void> {
    for (const name of ['ca.crt', 'tls.pem']) {
      const file = join(this.directory, 'private', name);
      await copyFile(join(this.certificates, this.name, name), file);
      await chmod(file, 0o600);
      await give(file, this.owner);
    }
  }

  start(): void {
    this.patroni = startDaemon(
      // As in its container: Patroni makes the folder of the data, which PostgreSQL wants for itself.
      ['sh', '-c', 'umask 077 && exec patroni "$0"', join(this.place, 'patroni.yaml')],
      this.environment,
      this.owner,
    );
  }

  /** Runs a command of the image, such as `backup`, to its end. */
  async run(command: string, ...args: string[]): Promise<void> {
    const program = join(this.place, `${command}.sh`);
    const daemon = startDaemon([program, ...args], this.environment, this.owner);
    const [code] = (await once(daemon.child, 'exit')) as [number | null];
    if (code !== 0) throw new Error(`${command} failed:\n${daemon.output()}`);
  }

  get output(): string {
    return this.patroni?.output() ?? '';
  }

  /** Asks its Patroni, as somebody with its certificate. */
  async ask(path: string, init: RequestInit = {}): Promise<Response> {
    const identity = await identityOf(this.certificates, this.name);
    return fetchOver(identity)(`https://127.0.0.1:${this.restPort}/${path}`, init);
  }

  /** Whether Patroni answers 200 to a question for its role, such as `primary`. */
  async is(role: string): Promise<boolean> {
    const answer = await this.ask(role).catch(() => undefined);
    return answer?.status === 200;
  }

  /** Whether its server runs, and not as a standby. */
  async isWritable(): Promise<boolean> {
    const pem = join(this.certificates, this.name, 'tls.pem');
    const url = verified(this.certificates, `postgres://postgres@127.0.0.1:${this.port}/postgres`);
    const sql = 'select not pg_is_in_recovery() as yes';
    const rows = await queryOnce<{ yes: boolean }>(`${url}&sslcert=${pem}&sslkey=${pem}`, sql).catch(
      () => [],
    );
    return rows[0]?.yes ?? false;
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

  async stop(): Promise<void> {
    if (this.patroni) await endProcess(this.patroni.child);
    await this.killServer();
  }
}

/** Starts two PostgreSQLs under Patroni, one the primary and one its synchronous standby. */
export async function startPostgresPair(place: string, certificates: string) {
  // The user postgres can read this folder.
  for (const file of ['patroni.yaml', 'pgbackrest.conf', 'backup.sh', 'recover.sh'])
    await copyFile(join(DOCKER, 'fleet', file), join(place, file));
  await copyFile(join(DOCKER, 'owner.sql'), join(place, 'owner.sql'));
  await mkdir(join(place, 'pgbackrest'), { mode: 0o750 });
  await give(join(place, 'pgbackrest'), await postgresAccount());
  const [etcdPort, peers] = [await unusedPort(), await unusedPort()];
  const [url, peer] = [`https://127.0.0.1:${etcdPort}`, `http://127.0.0.1:${peers}`];
  const [ca, pem] = ['ca.crt', 'tls.pem'].map((name) => join(certificates, 'etcd', name));
  const etcd = startDaemon([
    'etcd',
    '--enable-v2=true',
    `--data-dir=${join(place, 'etcd')}`,
    `--listen-client-urls=${url}`,
    `--advertise-client-urls=${url}`,
    '--client-cert-auth',
    `--trusted-ca-file=${ca}`,
    `--cert-file=${pem}`,
    `--key-file=${pem}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
  ]);
  const create = (name: string) => Member.create(name, { place, etcdPort, certificates });
  const members = [await create('postgres-1'), await create('postgres-2')] as const;
  const stop = async () => {
    for (const member of members) await member.stop();
    await endProcess(etcd.child, 'SIGKILL');
  };

  /** Resolves with primary and synchronous standby as soon as both are there. */
  const whole = () =>
    eventually(async () => {
      for (const [primary, standby] of [members, members.toReversed()] as [Member, Member][])
        if ((await primary.is('primary')) && (await standby.is('synchronous'))) return { primary, standby };
      const logs = members.map(({ name, output }) => `${name}:\n${output.slice(-3_000)}`);
      throw new Error(`not primary and synchronous standby:\n${logs.join('\n')}`);
    });

  const ask = fetchOver(await identityOf(certificates, 'postgres-1'));
  try {
    await eventually(async () => expect((await ask(`${url}/health`)).status).toBe(200));
    for (const member of members) member.start();
    await whole();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    etcdPort,
    members,
    whole,
    stop,
    /** Has primary and standby change places; what they were before. */
    switchOver: async () => {
      const { primary, standby } = await whole();
      const body = JSON.stringify({ leader: primary.name, candidate: standby.name });
      const answer = await primary.ask('switchover', { method: 'POST', body });
      expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)]);
      return { primary, standby };
    },
    /**
     * Kills the server of the primary; resolves when the standby has taken its place. Where the standby does not answer
     * in time Patroni starts the killed one again, which is no failover: then it waits for both, and kills once more.
     * Not before: a server that is killed while it is rewound ends apart from the new primary
     * (https://github.com/patroni/patroni/pull/3577).
     */
    failOver: async () => {
      for (let isTaken = false; !isTaken;) {
        const { primary, standby } = await whole();
        await primary.killServer();
        isTaken = await eventually(async () => {
          if (await standby.is('primary')) return true;
          expect(await primary.isWritable()).toBe(true);
          return false;
        });
      }
    },
    /** The URL of the service's database, at a port that leads there. */
    url: (port: number) =>
      verified(certificates, `postgres://time_logs:${PASSWORD}@127.0.0.1:${port}/time_logs`),
  };
}
