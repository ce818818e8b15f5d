import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { EmbeddedPostgres } from '@time-logs/embedded-postgres';
import type pg from 'pg';
import { connected } from '../../support/postgres-cluster.js';
import { measureServer } from './measure.js';

/** Milliseconds between two looks at what the server does, and how long one waits for it to be idle. */
const LOOK = { every: 50, atMost: 120_000 };

/** The one PostgreSQL of a run. */
export class Server {
  private constructor(
    private readonly embedded: EmbeddedPostgres,
    private readonly client: pg.Client,
    /** Such as 18.4. */
    readonly version: string,
    private readonly backend: number,
  ) {}

  /** Starts the embedded PostgreSQL in a folder. */
  static async open(directory: string, signal: AbortSignal): Promise<Server> {
    const embedded = await EmbeddedPostgres.start({ dataDirectory: join(directory, 'postgres'), signal });
    try {
      const client = await connected(embedded.url);
      const { rows } = await client.query<{ version: string; backend: number }>(
        `select split_part(current_setting('server_version'), ' ', 1) as version, pg_backend_pid() as backend`,
      );
      const { version, backend } = rows[0]!;
      return new Server(embedded, client, version, backend);
    } catch (error) {
      await embedded.stop();
      throw error;
    }
  }

  /** Microseconds of CPU that all processes of the server have spent; undefined where they cannot be seen. */
  cpu(): Promise<number | undefined> {
    return measureServer(this.backend);
  }

  urlOf(database: string): string {
    return Object.assign(new URL(this.embedded.url), { pathname: `/${database}` }).href;
  }

  /** The mark that was left on a database; undefined where the database or its mark is missing. */
  async markOf(database: string): Promise<string | undefined> {
    const { rows } = await this.client.query<{ mark: string | null }>(
      `select shobj_description(oid, 'pg_database') as mark from pg_database where datname = $1`,
      [database],
    );
    return rows[0]?.mark ?? undefined;
  }

  async mark(database: string, mark: string): Promise<void> {
    await this.client.query(`comment on database ${database} is '${mark}'`);
  }

  /** Makes a database, in place of one of this name. Returns its URL. */
  async create(database: string): Promise<string> {
    await this.client.query(`drop database if exists ${database} with (force)`);
    await this.client.query(`create database ${database}`);
    return this.urlOf(database);
  }

  /** Waits until nothing is left of the round before; what nobody waits for any longer is cancelled. */
  async calm(isAbandoned: boolean): Promise<void> {
    const act = isAbandoned ? 'pg_cancel_backend(pid)' : 'true';
    for (const end = Date.now() + LOOK.atMost; Date.now() < end;) {
      const { rowCount } = await this.client.query(
        `select ${act} from pg_stat_activity
          where backend_type = 'client backend' and state <> 'idle' and datname like 'time_logs_bench_%'`,
      );
      if (rowCount === 0) return;
      await delay(LOOK.every);
    }
    throw new Error('PostgreSQL does not come to rest after a round');
  }

  async stop(): Promise<void> {
    await this.client.end();
    await this.embedded.stop();
  }
}
