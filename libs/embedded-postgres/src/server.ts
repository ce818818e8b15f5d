import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { invoke } from './account.js';
import { EmbeddedPostgresError, Program } from './program.js';
import type { Installation } from './installation.js';
import { answers } from './socket.js';

export const POLL_MS = 20;
/** The time that a server has to end after a signal, and that a start waits for the memory of a killed one. */
const TIMEOUT_MS = 5_000;
/** Fast shutdown, immediate shutdown, kill. None of them loses data. */
export const STOP_SIGNALS = ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const;

/** Starts the server and waits until it accepts connections. An abort stops it again. */
export async function startServer(
  installation: Installation,
  signal: AbortSignal | undefined,
  log: (line: string) => void,
): Promise<Program> {
  const end = performance.now() + TIMEOUT_MS;
  for (;;) {
    signal?.throwIfAborted();
    const server = await launch(installation, SETTINGS, log, signal);
    if (signal?.aborted) await stopServer(server);
    signal?.throwIfAborted();
    if (server.running) return server;
    // The processes of a killed server end a moment after it.
    const isPassing = /lock file|pre-existing shared memory block/.test(server.output);
    if (!isPassing || performance.now() > end)
      throw new EmbeddedPostgresError(
        `PostgreSQL did not start in ${installation.dataDirectory} (${server.reason}): fix this, or set DATABASE_URL to another PostgreSQL server`,
      );
    await delay(POLL_MS);
  }
}

/** Stops a server, which closes its connections and writes its data, and waits for its end. */
export async function stopServer(
  server: Program,
  signals: readonly NodeJS.Signals[] = STOP_SIGNALS,
): Promise<void> {
  for (const signal of signals) {
    server.signal(signal);
    await Promise.race([server.ended, delay(TIMEOUT_MS, undefined, { ref: false })]);
    if (!server.running) return;
  }
}

/** Returns whether the server of a directory, by default any, accepts connections. */
export async function isReady(dataDirectory: string, pid?: number): Promise<boolean> {
  const lock = await readLockFile(dataDirectory);
  return lock.status === 'ready' && (pid === undefined || lock.pid === pid);
}

/** Stops the server of a service that was killed, if it runs, and removes its lock file. */
export async function stopOrphan(dataDirectory: string): Promise<void> {
  for (const signal of STOP_SIGNALS) {
    const { pid } = await readLockFile(dataDirectory);
    if (!(pid > 1) || !(await answers(dataDirectory))) break;
    if (!(await serves(pid, dataDirectory))) break;
    process.kill(pid, signal);
    const end = performance.now() + TIMEOUT_MS;
    while ((await answers(dataDirectory)) && performance.now() < end) await delay(POLL_MS);
  }
  if (await answers(dataDirectory))
    throw new EmbeddedPostgresError(
      `the data directory ${dataDirectory} is in use by a PostgreSQL server without a service, perhaps in another container: stop it, or set DATA_DIR to another directory`,
    );
  // PostgreSQL would refuse to start while any process has the number in this file, as after a restart of a container.
  await rm(join(dataDirectory, 'postmaster.pid'), { force: true });
}

/** Returns the lock file of PostgreSQL. Its src/include/utils/pidfile.h defines the format. */
async function readLockFile(dataDirectory: string) {
  const text = await readFile(join(dataDirectory, 'postmaster.pid'), 'utf8').catch(() => '');
  const lines = text.split('\n');
  return { pid: Number(lines[0]), status: lines[7]?.trim() };
}

/** Returns whether a process is the server of a directory, which may also run in another container. */
async function serves(pid: number, dataDirectory: string): Promise<boolean> {
  if (process.platform !== 'linux') return true;
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return command.split('\0').includes(dataDirectory);
}

/** Starts the server of an installation. Resolves when it accepts connections, has ended, or the start is aborted. */
export async function launch(
  { dataDirectory, binaries, environment, account }: Installation,
  settings: Readonly<Record<string, string>>,
  log?: (line: string) => void,
  signal?: AbortSignal,
): Promise<Program> {
  const values = Object.entries({
    // No network port, because other users of the machine could connect to it.
    listen_addresses: '',
    // Quoted, because a comma in the path would start another entry of this list.
    unix_socket_directories: `"${dataDirectory.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
    log_line_prefix: '',
    ...settings,
  }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const invocation = invoke(account, binaries.postgres, ['-D', dataDirectory, ...values]);
  const program = new Program(invocation, environment, log);
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
