import { DataSource, type QueryRunner } from 'typeorm';

/** Milliseconds that a look may take to connect, and to ask. The second is long: what is given up may go on on the server. */
const CONNECT_LIMIT = 1_000;
const ASK_LIMIT = 10_000;

/** Those of the same user in the same database; one that waits for its client for so long has answered it, or was never asked. */
const OURS = `
  select pid, wait_event as "waitsFor", clock_timestamp() - xact_start > interval '2 seconds' as "isLong",
         state like 'idle%' and clock_timestamp() - state_change > interval '500 milliseconds' as "isIdle"
    from pg_stat_activity
   where usename = session_user and datname = current_database() and pid <> pg_backend_pid()`;

/** A process of the server that works for a connection of ours. */
export interface Backend {
  readonly pid: number;
  readonly waitsFor: string | null;
  readonly isLong: boolean | null;
  readonly isIdle: boolean | null;
}

/** Looks at the server's processes from a connection beside the pool, all of whose connections may be in use. */
export class Backends {
  private constructor(
    private readonly dataSource: DataSource,
    private readonly runner: QueryRunner,
    private readonly backends: readonly Backend[],
    /** Then nobody knows which process works for which connection. */
    private readonly isBehindPooler: boolean,
  ) {}

  /** Connects as the pool does and looks. Throws what the driver throws. */
  static async look({ options }: DataSource): Promise<Backends> {
    const nothingElse = { entities: [], migrations: [], subscribers: [], cache: false };
    const changesNothing = { synchronize: false, migrationsRun: false, dropSchema: false };
    const limits = { max: 1, connectionTimeoutMillis: CONNECT_LIMIT, query_timeout: ASK_LIMIT };
    const extra = { ...(options.extra as object | undefined), ...limits };
    const dataSource = new DataSource({
      ...options,
      ...nothingElse,
      ...changesNothing,
      extra,
    });
    await dataSource.initialize();
    const runner = dataSource.createQueryRunner();
    try {
      const { processID } = (await runner.connect()) as { processID: number | null };
      const [own] = (await runner.query('select pg_backend_pid() as pid')) as { pid: number }[];
      const backends = (await runner.query(OURS)) as Backend[];
      return new Backends(dataSource, runner, backends, own!.pid !== processID);
    } catch (error) {
      await runner.release();
      await dataSource.destroy();
      throw error;
    }
  }

  /** The one that works for a connection, by the number that the server gave it; behind a pooler any that has worked for long. */
  workingFor(pid: number | null): Backend | undefined {
    const isIt = (backend: Backend) => (this.isBehindPooler ? backend.isLong : backend.pid === pid);
    return this.backends.find((backend) => isIt(backend) && !backend.isIdle);
  }

  /** Ends those that wait for a client that is gone, which they may not learn for hours. */
  async end(pids: readonly (number | null)[]): Promise<void> {
    if (this.isBehindPooler || pids.length === 0) return;
    await this.runner.query(
      `select pg_terminate_backend(pid) from (${OURS}) ours where pid = any($1) and "isIdle"`,
      [pids],
    );
  }

  async close(): Promise<void> {
    await this.runner.release();
    await this.dataSource.destroy();
  }
}
