import { setTimeout as delay } from 'node:timers/promises';
import { EmbeddedPostgresError } from './embedded-postgres.error.js';
import type { Installation } from './installation.js';
import { clusterName, findPostmaster, isReady, type Postmaster, type Purpose } from './postmaster.js';
import { Program } from './program.js';
import { openSocketDirectory, socketDirectoryOf } from './socket-directory.js';

const POLL_MS = 20;
// How long a server has to obey a signal before the next one is sent.
const PATIENCE_MS = 5_000;
// Fast shutdown, immediate shutdown, kill. No data are lost by any of them.
const STAGES: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT', 'SIGKILL'];

/** Another server has just taken the data directory, or the last processes of the previous one are still ending. */
export class DirectoryTaken extends EmbeddedPostgresError {}

/** A server that this process has started. */
export class Server {
  private constructor(
    private readonly program: Program,
    private readonly purpose: Purpose,
    /** The directory of the server's socket. */
    readonly socketDirectory: string,
  ) {}

  /** Starts the server and waits until it accepts connections. An abort stops it again. */
  static async start(
    installation: Installation,
    purpose: Purpose,
    { signal, log }: { signal?: AbortSignal | undefined; log?: ((line: string) => void) | undefined },
  ): Promise<Server> {
    const { dataDirectory, binaries, environment, account } = installation;
    const socketDirectory = socketDirectoryOf(dataDirectory);
    await openSocketDirectory(socketDirectory, dataDirectory, account.owner('postgres'));
    signal?.throwIfAborted();
    const args = serverArguments(dataDirectory, socketDirectory, purpose);
    const program = Program.start(account.invoke(binaries.postgres, args, 'postgres'), environment, log);
    const server = new Server(program, purpose, socketDirectory);
    while (program.running && !(await isReady(dataDirectory, program.pid ?? 0))) {
      if (signal?.aborted) await server.stop();
      signal?.throwIfAborted();
      await Promise.race([delay(POLL_MS), program.ended]);
    }
    if (program.running) return server;
    await program.ended;
    throw failure(dataDirectory, program);
  }

  /** Resolves when the server has ended, with the reason. */
  async ended(): Promise<string> {
    await this.program.ended;
    return this.program.reason;
  }

  /** Stops the server and waits for its end. The server closes its connections and writes its data. */
  async stop(): Promise<void> {
    await stopInStages(
      // Another command may use this command's server. SIGTERM lets it finish first.
      this.purpose === 'command' ? ['SIGTERM', ...STAGES] : STAGES,
      (signal) => {
        this.program.signal(signal);
      },
      (ms) => Promise.race([this.program.ended.then(() => true), delay(ms, false, { ref: false })]),
    );
  }
}

/** Stops a server that another process has started. */
export async function stopOrphan(dataDirectory: string, { pid }: Postmaster): Promise<void> {
  const isGone = async () => (await findPostmaster(dataDirectory))?.pid !== pid;
  const isGoneWithin = async (ms: number) => {
    const end = performance.now() + ms;
    while (!(await isGone())) {
      if (performance.now() > end) return false;
      await delay(POLL_MS);
    }
    return true;
  };
  const stopped = await stopInStages(STAGES, signalTo(pid), isGoneWithin);
  if (stopped) return;
  throw new EmbeddedPostgresError(
    `the PostgreSQL server ${pid} of ${dataDirectory} does not end: end it, and start again`,
  );
}

async function stopInStages(
  stages: readonly NodeJS.Signals[],
  send: (signal: NodeJS.Signals) => void,
  endsWithin: (ms: number) => Promise<boolean>,
): Promise<boolean> {
  for (const signal of stages) {
    send(signal);
    if (await endsWithin(PATIENCE_MS)) return true;
  }
  return false;
}

function signalTo(pid: number): (signal: NodeJS.Signals) => void {
  return (signal) => {
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended, or it belongs to another user. The next wait finds out.
    }
  };
}

function failure(dataDirectory: string, { output, reason }: Program): EmbeddedPostgresError {
  const text = `PostgreSQL did not start in ${dataDirectory} (${reason})`;
  if (/lock file ".*" already exists|pre-existing shared memory block/.test(output)) {
    return new DirectoryTaken(
      `${text}: stop the server that uses this directory, or set DATA_DIR to another one`,
    );
  }
  // Another server makes its lock file just now. One that stays is of a server that was cut short.
  if (/lock file ".*" is empty/.test(output)) {
    return new DirectoryTaken(`${text}: remove this file if no server uses this directory`);
  }
  return new EmbeddedPostgresError(`${text}: remedy this, or set DATABASE_URL to another PostgreSQL server`);
}

function serverArguments(dataDirectory: string, socketDirectory: string, purpose: Purpose): string[] {
  const settings = {
    // No network port: others on the machine could reach it.
    listen_addresses: '',
    // In quotes, since the setting is a list: a comma in the path would start another entry.
    unix_socket_directories: `"${socketDirectory.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
    port: '5432',
    cluster_name: clusterName(purpose),
    max_connections: '100',
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_destination: 'stderr',
    logging_collector: 'off',
    log_line_prefix: '',
    log_checkpoints: 'off',
    // The caller reports refused statements. Here their text or row could show personal data.
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
  };
  return [
    '-D',
    dataDirectory,
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
}
