import { DataSource, type QueryRunner } from 'typeorm';

const CONNECT_TIMEOUT_MS = 1_000;
/** It is long because the server may continue an abandoned query. */
const QUERY_TIMEOUT_MS = 10_000;

/** SQL condition: a time is older than the interval, or in the future after a clock change. */
const isOlderThan = (interval: string, time: string) =>
  `${time} not between clock_timestamp() - interval '${interval}' and clock_timestamp()`;

/** Selects the backends of our role in our database. An idle one waits for its client. */
const SELECT_BACKENDS = `
  select pid, wait_event as "waitsFor", ${isOlderThan('2 seconds', 'xact_start')} as "isLong",
         state like 'idle%' and ${isOlderThan('500 milliseconds', 'state_change')} as "isIdle"
    from pg_stat_activity
   where usename = session_user and datname = current_database() and pid <> pg_backend_pid()`;

/** A server process that serves one of our connections. */
export interface Backend {
  readonly pid: number;
  readonly waitsFor: string | null;
  readonly isLong: boolean | null;
  readonly isIdle: boolean | null;
}

/** The server of a connection, with the names that node-postgres has for it. */
export interface DatabaseServer {
  readonly host: string;
  readonly port: number;
  readonly user?: string;
  readonly password?: string | null;
  readonly database?: string;
  readonly ssl?: unknown;
}

/** The backends of the server. It has its own connection, because the pool may be exhausted. */
export class Backends {
  private constructor(
    private readonly dataSource: DataSource,
    private readonly runner: QueryRunner,
    private readonly backends: readonly Backend[],
    /** Behind a pooler, the process id of a connection is not that of its backend. */
    private readonly isBehindPooler: boolean,
  ) {}

  /**
   * Connects like the pool, and reads the backends. With replication, it connects to the server alone: a replica may
   * be unavailable. Throws the errors of the driver.
   */
  static async read({ options }: DataSource, server?: DatabaseServer): Promise<Backends> {
    const withoutModel = { entities: [], migrations: [], subscribers: [], cache: false };
    const withoutChanges = { synchronize: false, migrationsRun: false, dropSchema: false };
    const limits = { max: 1, connectionTimeoutMillis: CONNECT_TIMEOUT_MS, query_timeout: QUERY_TIMEOUT_MS };
    const extra = { ...(options.extra as object | undefined), ...limits };
    const dataSource = new DataSource({
      ...options,
      ...('replication' in options && server && onlyOn(server)),
      ...withoutModel,
      ...withoutChanges,
      extra,
    });
    await dataSource.initialize();
    const runner = dataSource.createQueryRunner();
    try {
      const { processID } = (await runner.connect()) as { processID: number | null };
      const [own] = (await runner.query('select pg_backend_pid() as pid')) as { pid: number }[];
      const backends = (await runner.query(SELECT_BACKENDS)) as Backend[];
      return new Backends(dataSource, runner, backends, own!.pid !== processID);
    } catch (error) {
      await runner.release();
      await dataSource.destroy();
      throw error;
    }
  }

  /** Returns the backend of a connection; behind a pooler, any that has been working for long. */
  workingFor(pid: number | null): Backend | undefined {
    const matches = (backend: Backend) => (this.isBehindPooler ? backend.isLong : backend.pid === pid);
    return this.backends.find((backend) => matches(backend) && !backend.isIdle);
  }

  /** Terminates backends whose client is gone. By themselves they may not notice for hours. */
  async terminate(pids: readonly (number | null)[]): Promise<void> {
    if (this.isBehindPooler || pids.length === 0) return;
    await this.runner.query(
      `select pg_terminate_backend(pid) from (${SELECT_BACKENDS}) backends where pid = any($1) and "isIdle"`,
      [pids],
    );
  }

  async close(): Promise<void> {
    await this.runner.release();
    await this.dataSource.destroy();
  }
}

/** Returns the options that replace those of a DataSource with replication. */
function onlyOn({ host, port, user, password, database, ssl }: DatabaseServer): object {
  return { replication: undefined, url: undefined, host, port, username: user, password, database, ssl };
}
