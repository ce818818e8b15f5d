import { DataSource, type QueryRunner } from 'typeorm';

/** Milliseconds to connect, and to ask. The second limit is long: an abandoned query may go on in the server. */
const CONNECT_LIMIT = 1_000;
const ASK_LIMIT = 10_000;

/**
 * SQL: whether a time is longer ago than the pause. A time in the future counts too: the server's clock has gone back.
 */
const isPast = (time: string, pause: string) =>
  `${time} not between clock_timestamp() - interval '${pause}' and clock_timestamp()`;

/**
 * The processes of our user in our database. `isIdle`: it has waited for its client for so long that it has sent its
 * answer, or was never asked.
 */
const OURS = `
  select pid, wait_event as "waitsFor", ${isPast('xact_start', '2 seconds')} as "isLong",
         state like 'idle%' and ${isPast('state_change', '500 milliseconds')} as "isIdle"
    from pg_stat_activity
   where usename = session_user and datname = current_database() and pid <> pg_backend_pid()`;

/** A process of the server that works for one of our connections. */
export interface Backend {
  readonly pid: number;
  readonly waitsFor: string | null;
  readonly isLong: boolean | null;
  readonly isIdle: boolean | null;
}

/** Looks at the server's processes. Uses a connection of its own, since the whole pool may be in use. */
export class Backends {
  private constructor(
    private readonly dataSource: DataSource,
    private readonly runner: QueryRunner,
    private readonly backends: readonly Backend[],
    /** Behind a pooler nobody knows which process works for which connection. */
    private readonly isBehindPooler: boolean,
  ) {}

  /** Connects like the pool, and looks. Throws what the driver throws. */
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

  /**
   * The process that works for a connection with this process number. Behind a pooler: any that has worked for long.
   */
  workingFor(pid: number | null): Backend | undefined {
    const isIt = (backend: Backend) => (this.isBehindPooler ? backend.isLong : backend.pid === pid);
    return this.backends.find((backend) => isIt(backend) && !backend.isIdle);
  }

  /** Ends processes whose client is gone. By themselves they may not notice for hours. */
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
