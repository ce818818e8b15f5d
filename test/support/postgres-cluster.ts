import { appendFile, cp, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { type Installation, install } from '../../libs/embedded-postgres/src/installation.js';
import type { Program } from '../../libs/embedded-postgres/src/program.js';
import { launch } from '../../libs/embedded-postgres/src/server.js';
import { urlOf } from '../../libs/embedded-postgres/src/socket.js';
import { createTestDatabase } from './test-database.js';

/** Milliseconds between two looks at a server that starts. */
const POLL = 10;
/** The time for a start: the processes of a killed server release its memory first. */
const START_TIMEOUT_MS = 300_000;

/** Settings of a server (`postgres -c name=value`). */
type Settings = Readonly<Record<string, string>>;

/**
 * A real PostgreSQL server that belongs to one test file, which may stop, kill and freeze it; nobody starts it again
 * by itself.
 */
export class PostgresCluster {
  private program: Program | undefined;
  private frozen: number[] = [];
  private readonly log: string[] = [];

  private constructor(
    /** The directory of the temporary files, in which the files of the server lie. */
    readonly place: string,
    private readonly installation: Installation,
    private readonly settings: Settings,
  ) {}

  /** Makes the files of a server in a directory of temporary files, made ready by `prepare`, and starts it. */
  static async create(
    settings: Settings = {},
    prepare: (directory: string) => void = () => undefined,
  ): Promise<PostgresCluster> {
    const directory = await realpath(await mkdtemp(join(tmpdir(), 'faults-')));
    prepare(directory);
    const installation = await install(join(directory, 'postgres'));
    const cluster = new PostgresCluster(directory, installation, settings);
    await cluster.start();
    return cluster;
  }

  /** Another server that follows this one and can be read from (streaming replication). This one rests meanwhile. */
  async createStandby(): Promise<PostgresCluster> {
    await this.end('SIGINT');
    const directory = await realpath(await mkdtemp(join(tmpdir(), 'faults-')));
    const files = join(directory, 'postgres');
    await cp(this.installation.dataDirectory, files, { recursive: true });
    await writeFile(join(files, 'standby.signal'), '');
    await appendFile(
      join(files, 'postgresql.auto.conf'),
      `primary_conninfo = 'host=${this.installation.dataDirectory} user=postgres application_name=standby'\n`,
    );
    const standby = new PostgresCluster(directory, await install(files), this.settings);
    await this.start();
    await standby.start();
    return standby;
  }

  /** Path of the server's socket. */
  get socket(): string {
    return join(this.installation.dataDirectory, '.s.PGSQL.5432');
  }

  /** To whom the server's files belong. */
  get owner(): { readonly uid: number; readonly gid: number } {
    return this.installation.account.user;
  }

  /** A new database of an ordinary role, as a managed PostgreSQL gives it; its URL, with that role. */
  async createDatabase(): Promise<string> {
    return (await createTestDatabase(this.url)).url;
  }

  /** The URL of a database for a superuser. */
  asSuperuser(databaseUrl: string): string {
    return databaseUrl.replace(/\/\/[^@]+@/, '//postgres@');
  }

  /** The URL of a database of another server, on this one. */
  on(databaseUrl: string): string {
    return databaseUrl.replace(/@[^/]+/, /@[^/]+/.exec(this.url)![0]);
  }

  /** The URL of the database that exists from the beginning, for a superuser. */
  get url(): string {
    return urlOf(this.installation.dataDirectory);
  }

  /** Starts the server and resolves when it accepts connections. */
  async start(): Promise<void> {
    const end = performance.now() + START_TIMEOUT_MS;
    while (!(await this.tryStart())) {
      // The memory of a killed server is freed a moment later.
      const isPassing = /pre-existing shared memory block|lock file/.test(this.program?.output ?? '');
      if (!isPassing || performance.now() > end) throw new Error(this.log.slice(-10).join('\n'));
      await delay(POLL);
    }
  }

  /**
   * Ends the server: SIGTERM, SIGINT and SIGQUIT are what `pg_ctl stop` sends for `-m smart`, `fast` and `immediate`,
   * and SIGKILL is the fault of a killed postmaster.
   */
  async end(signal: 'SIGTERM' | 'SIGINT' | 'SIGQUIT' | 'SIGKILL'): Promise<void> {
    this.program?.signal(signal);
    await this.program?.ended;
  }

  /** Stops all processes of the server where they stand, as a hanging disk does. */
  async freeze(): Promise<void> {
    const client = await connected(this.url);
    // The postmaster first: from then on there is no new process.
    this.program!.signal('SIGSTOP');
    const { rows } = await client.query<{ pid: number }>('select pid from pg_stat_activity');
    this.frozen = rows.map(({ pid }) => pid);
    for (const pid of this.frozen) process.kill(pid, 'SIGSTOP');
    client.end().catch(() => undefined);
  }

  /** Lets the processes of a frozen server go on. */
  thaw(): void {
    for (const pid of this.frozen.splice(0)) process.kill(pid, 'SIGCONT');
    this.program?.signal('SIGCONT');
  }

  /** Runs statements as the superuser, on a connection of their own. */
  async query<Row extends pg.QueryResultRow>(sql: string, parameters: unknown[] = []): Promise<Row[]> {
    return queryOnce<Row>(this.url, sql, parameters);
  }

  /** Changes settings of the running server; null takes one back. Sessions get them a moment later. */
  async configure(settings: Readonly<Record<string, string | null>>): Promise<void> {
    for (const [name, value] of Object.entries(settings))
      await this.query(`alter system ${value === null ? `reset ${name}` : `set ${name} = '${value}'`}`);
    await this.query('select pg_reload_conf()');
  }

  /** How many lines of the server's own log match. */
  logged(pattern: RegExp): number {
    return this.log.filter((line) => pattern.test(line)).length;
  }

  /** Ends the server and removes its files. */
  async remove(): Promise<void> {
    this.thaw();
    await this.end('SIGQUIT');
    await rm(this.place, { recursive: true, force: true, maxRetries: 5 });
  }

  private async tryStart(): Promise<boolean> {
    this.program = await launch(this.installation, this.settings, (line) => this.log.push(line));
    return this.program.running;
  }
}

/** Runs statements on a connection of their own. */
export async function queryOnce<Row extends pg.QueryResultRow>(
  url: string,
  sql: string,
  parameters: unknown[] = [],
): Promise<Row[]> {
  const client = await connected(url);
  try {
    return (await client.query<Row>(sql, parameters)).rows;
  } finally {
    await client.end();
  }
}

/** The first column of what a statement returns, on a connection of its own. */
export async function firstColumn(url: string, sql: string): Promise<unknown[]> {
  return (await queryOnce<pg.QueryResultRow>(url, sql)).map((row) => (Object.values(row) as unknown[])[0]);
}

/** A connection that does not belong to the service; the caller ends it. */
export async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: 'outsider' });
  // The server may be killed under it; what it then asks rejects.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}
