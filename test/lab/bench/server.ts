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
  static async open(directory: string): Promise<Server> {
    const embedded = await EmbeddedPostgres.start({ dataDirectory: join(directory, 'postgres') });
    const client = await connected(embedded.url);
    const { rows } = await client.query<{ version: string; backend: number }>(
      `select split_part(current_setting('server_version'), ' ', 1) as version, pg_backend_pid() as backend`,
    );
    return new Server(embedded, client, rows[0]!.version, rows[0]!.backend);
  }

  /** Microseconds of CPU that all processes of the server have spent. */
  cpu(): Promise<number> {
    return measureServer(this.backend);
  }

  /** Makes a database. Returns its URL. */
  async create(database: string): Promise<string> {
    await this.client.query(`create database ${database}`);
    return Object.assign(new URL(this.embedded.url), { pathname: `/${database}` }).href;
  }

  /** Waits until nothing is left of the round before; what nobody waits for any longer is cancelled. */
  async calm(isAbandoned: boolean): Promise<void> {
    const act = isAbandoned ? 'pg_cancel_backend(pid)' : 'true';
    for (const end = Date.now() + LOOK.atMost; Date.now() < end;) {
      const { rowCount } = await this.client.query(
        `select ${act} from pg_stat_activity
          where backend_type = 'client backend' and state <> 'idle' and datname like 'bench_%'`,
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
