import { setTimeout as delay } from 'node:timers/promises';
import { EmbeddedPostgresError } from './embedded-postgres.error.js';
import type { Installation } from './installation.js';
import { clusterName, findPostmaster, isReady, type Postmaster, type Purpose } from './postmaster.js';
import { Program } from './program.js';
import { openSocketDirectory, socketDirectoryOf } from './socket-directory.js';

const POLL_MS = 20;
// The time that a server has to end after a signal before the next signal is sent.
const SIGNAL_TIMEOUT_MS = 5_000;
// Fast shutdown, immediate shutdown, kill. None of them loses data.
const STOP_SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT', 'SIGKILL'];

/** The error if another server has taken the directory, or the last one has not quite ended. */
export class DirectoryTakenError extends EmbeddedPostgresError {}

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
    throw startError(dataDirectory, program);
  }

  /** Resolves when the server has ended, with the reason. */
  async ended(): Promise<string> {
    await this.program.ended;
    return this.program.reason;
  }

  /** Stops the server, which closes its connections and writes its data, and waits for its end. */
  async stop(): Promise<void> {
    await stopBySignals(
      // Another command may use the server of this command. SIGTERM lets it finish first.
      this.purpose === 'command' ? ['SIGTERM', ...STOP_SIGNALS] : STOP_SIGNALS,
      (signal) => this.program.signal(signal),
      (ms) => Promise.race([this.program.ended.then(() => true), delay(ms, false, { ref: false })]),
    );
  }
}

/** Stops a server whose owner has ended. */
export async function stopOrphan(dataDirectory: string, { pid }: Postmaster): Promise<void> {
  const hasEnded = async () => (await findPostmaster(dataDirectory))?.pid !== pid;
  const endsWithin = async (ms: number) => {
    const end = performance.now() + ms;
    while (!(await hasEnded())) {
      if (performance.now() > end) return false;
      await delay(POLL_MS);
    }
    return true;
  };
  const stopped = await stopBySignals(STOP_SIGNALS, signalTo(pid), endsWithin);
  if (stopped) return;
  throw new EmbeddedPostgresError(
    `the PostgreSQL server ${pid} of ${dataDirectory} does not end: stop it, and start again`,
  );
}

async function stopBySignals(
  signals: readonly NodeJS.Signals[],
  send: (signal: NodeJS.Signals) => void,
  endsWithin: (ms: number) => Promise<boolean>,
): Promise<boolean> {
  for (const signal of signals) {
    send(signal);
    if (await endsWithin(SIGNAL_TIMEOUT_MS)) return true;
  }
  return false;
}

function signalTo(pid: number): (signal: NodeJS.Signals) => void {
  return (signal) => {
    try {
      process.kill(pid, signal);
    } catch {
      // The process has ended, or belongs to another user. The following wait detects that.
    }
  };
}

function startError(dataDirectory: string, { output, reason }: Program): EmbeddedPostgresError {
  const text = `PostgreSQL did not start in ${dataDirectory} (${reason})`;
  if (/lock file ".*" already exists|pre-existing shared memory block/.test(output))
    return new DirectoryTakenError(
      `${text}: stop the server that uses this directory, or set DATA_DIR to another one`,
    );
  // Another server is creating its lock file. If the file stays empty, a server was killed
  // meanwhile.
  if (/lock file ".*" is empty/.test(output))
    return new DirectoryTakenError(`${text}: remove this file if no server uses this directory`);
  return new EmbeddedPostgresError(`${text}: fix this, or set DATABASE_URL to another PostgreSQL server`);
}

function serverArguments(dataDirectory: string, socketDirectory: string, purpose: Purpose): string[] {
  const settings = {
    // No network port, because other users of the machine could connect to it.
    listen_addresses: '',
    // Quoted, because a comma in the path would start another entry of this list.
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
    // The client logs refused statements. In the server log they could show personal data.
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
