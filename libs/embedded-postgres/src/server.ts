import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { invoke } from './account.js';
import type { Purpose } from './directory-lock.js';
import { EmbeddedPostgresError } from './embedded-postgres.error.js';
import type { Installation } from './installation.js';
import { Program } from './program.js';
import { answers, openSocketDirectory } from './socket-directory.js';

export const POLL_MS = 20;
/** The time that a server has to end after a signal, and that a start waits for the memory of a killed one. */
const TIMEOUT_MS = 5_000;
/** Fast shutdown, immediate shutdown, kill. None of them loses data. */
const STOP_SIGNALS = ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const;

/** A server that this process has started. */
export class Server {
  private constructor(
    private readonly program: Program,
    private readonly purpose: Purpose,
  ) {}

  /** Starts the server and waits until it accepts connections. An abort stops it again. */
  static async start(
    installation: Installation,
    purpose: Purpose,
    signal: AbortSignal | undefined,
    log: (line: string) => void,
  ): Promise<Server> {
    const end = performance.now() + TIMEOUT_MS;
    for (;;) {
      signal?.throwIfAborted();
      const program = await launch(installation, SETTINGS, log, signal);
      const server = new Server(program, purpose);
      if (signal?.aborted) await server.stop();
      signal?.throwIfAborted();
      if (program.running) return server;
      // The processes of a killed server end a moment after it.
      const isPassing = /lock file|pre-existing shared memory block/.test(program.output);
      if (!isPassing || performance.now() > end)
        throw new EmbeddedPostgresError(
          `PostgreSQL did not start in ${installation.dataDirectory} (${program.reason}): fix this, or set DATABASE_URL to another PostgreSQL server`,
        );
      await delay(POLL_MS);
    }
  }

  /** Resolves when the server has ended, with the reason. */
  async ended(): Promise<string> {
    await this.program.ended;
    return this.program.reason;
  }

  /** Stops the server, which closes its connections and writes its data, and waits for its end. */
  async stop(): Promise<void> {
    // Another command may use the server of this command. SIGTERM lets it finish first.
    const first = this.purpose === 'command' ? (['SIGTERM'] as const) : [];
    for (const signal of [...first, ...STOP_SIGNALS]) {
      this.program.signal(signal);
      await Promise.race([this.program.ended, delay(TIMEOUT_MS, undefined, { ref: false })]);
      if (!this.program.running) return;
    }
  }
}

/** Returns whether the server of a directory, by default any, accepts connections. */
export async function isReady(dataDirectory: string, pid?: number): Promise<boolean> {
  const lock = await readLockFile(dataDirectory);
  return lock?.status === 'ready' && (pid === undefined || lock.pid === pid);
}

/** Stops the server of a service that was killed, if it runs, and removes its lock file. */
export async function stopOrphan(dataDirectory: string): Promise<void> {
  for (const signal of STOP_SIGNALS) {
    const lock = await readLockFile(dataDirectory);
    if (!lock || !(await answers(dataDirectory))) break;
    if (!(await serves(lock.pid, dataDirectory))) throw stillRuns(dataDirectory, lock.pid);
    process.kill(lock.pid, signal);
    const end = performance.now() + TIMEOUT_MS;
    while ((await answers(dataDirectory)) && performance.now() < end) await delay(POLL_MS);
  }
  if (await answers(dataDirectory)) throw stillRuns(dataDirectory);
  // PostgreSQL would refuse to start while any process has the number in this file, as after a restart of a container.
  await rm(join(dataDirectory, 'postmaster.pid'), { force: true });
}

/** Returns the lock file of PostgreSQL. Its src/include/utils/pidfile.h defines the format. */
async function readLockFile(dataDirectory: string) {
  const text = await readFile(join(dataDirectory, 'postmaster.pid'), 'utf8').catch(() => '');
  const lines = text.split('\n').map((line) => line.trim());
  const pid = Number(lines[0]);
  return pid > 1 ? { pid, status: lines[7] } : undefined;
}

/** Returns whether a process is the server of a directory, which may also run in another container. */
async function serves(pid: number, dataDirectory: string): Promise<boolean> {
  if (process.platform !== 'linux') return true;
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return command.split('\0').includes(dataDirectory);
}

function stillRuns(dataDirectory: string, pid?: number): EmbeddedPostgresError {
  const process = pid === undefined ? '' : `, process ${pid}`;
  return new EmbeddedPostgresError(
    `the data directory ${dataDirectory} is in use by a PostgreSQL server without a service, perhaps in another container${process}: stop it, or set DATA_DIR to another directory`,
  );
}

/** Starts the server of an installation. Resolves when it accepts connections, has ended, or the start is aborted. */
export async function launch(
  { dataDirectory, binaries, environment, account }: Installation,
  settings: Readonly<Record<string, string>>,
  log?: (line: string) => void,
  signal?: AbortSignal,
): Promise<Program> {
  const socketDirectory = await openSocketDirectory(dataDirectory, account.user);
  const values = Object.entries({
    // No network port, because other users of the machine could connect to it.
    listen_addresses: '',
    // Quoted, because a comma in the path would start another entry of this list.
    unix_socket_directories: `"${socketDirectory.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
    log_line_prefix: '',
    ...settings,
  }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const invocation = invoke(account, binaries.postgres, ['-D', dataDirectory, ...values]);
  const program = Program.start(invocation, environment, log);
  while (program.running && !signal?.aborted && !(await isReady(dataDirectory, program.pid)))
    await Promise.race([delay(POLL_MS), program.ended]);
  if (!program.running) await program.ended;
  return program;
}

const SETTINGS = {
  port: '5432',
  max_connections: '100',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_destination: 'stderr',
  logging_collector: 'off',
  log_checkpoints: 'off',
  // The client logs refused statements. In the server log they could show personal data.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
};
