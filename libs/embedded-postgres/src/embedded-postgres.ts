import type { Server as Lock } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Binaries } from './binaries.js';
import { openDirectory } from './data-directory.js';
import { holderOf, type Purpose, takeLock } from './directory-lock.js';
import { EmbeddedPostgresError } from './program.js';
import { install } from './installation.js';
import { isReady, POLL_MS, startServer, STOP_SIGNALS, stopOrphan, stopServer } from './server.js';
import { answers, urlOf } from './socket.js';

/** The options of a start. */
export interface EmbeddedPostgresOptions {
  /** The directory of the server's files. It is created on first use. */
  readonly dataDirectory: string;
  /** Aborts a start: the server is stopped. The promise rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** Called once if the server ends without stop(). It is not started again. */
  readonly onFailure?: ((error: EmbeddedPostgresError) => void) | undefined;
  /** Called with each line of the server's log. */
  readonly log?: (line: string) => void;
}

const ignore = () => undefined;
/** The time that a start of a service waits until a command, or a process that does not say what it is, ends. */
const WAIT_TIMEOUT_MS = 10_000;

/** A real PostgreSQL server without any set-up. Only the user who started it can reach it. */
export class EmbeddedPostgres {
  private stopping: Promise<void> | undefined;

  private constructor(
    /** The server's URL, for node-postgres and TypeORM. */
    readonly url: string,
    /** Whether this start has created the data directory. */
    readonly created: boolean,
    private readonly end: () => Promise<void> = async () => undefined,
  ) {}

  /** Starts the server of a directory. Rejects if another service uses the directory. */
  static start(options: EmbeddedPostgresOptions, binaries?: Binaries): Promise<EmbeddedPostgres> {
    return EmbeddedPostgres.open('service', options, binaries);
  }

  /** Uses the running server, which stop() does not stop, or starts one. For commands. */
  static attachOrStart(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
    return EmbeddedPostgres.open('command', options);
  }

  /** Stops the server if this object has started it. Resolves when it has ended. */
  stop(): Promise<void> {
    return (this.stopping ??= this.end());
  }

  private static async open(
    purpose: Purpose,
    options: EmbeddedPostgresOptions,
    binaries?: Binaries,
  ): Promise<EmbeddedPostgres> {
    const directory = await openDirectory(options.dataDirectory);
    // The lock is next to the data, since it exists before them.
    const path = `${directory}.lock`;
    const end = performance.now() + WAIT_TIMEOUT_MS;
    for (;;) {
      options.signal?.throwIfAborted();
      const lock = await takeLock(path, purpose);
      if (lock) return EmbeddedPostgres.run(lock, purpose, directory, options, binaries);
      if (purpose === 'command' && (await isReady(directory)) && (await answers(directory)))
        return new EmbeddedPostgres(urlOf(directory), false);
      const holder = await holderOf(path);
      if (purpose === 'service' && holder && (holder.startsWith('service') || performance.now() > end))
        throw new EmbeddedPostgresError(
          `the data directory ${directory} is in use by another running ${holder}: stop it, or set DATA_DIR to another directory`,
        );
      await delay(POLL_MS);
    }
  }

  /** Runs the server of a directory, whose lock it releases with the end of the server. */
  private static async run(
    lock: Lock,
    purpose: Purpose,
    directory: string,
    { signal, onFailure = ignore, log = ignore }: EmbeddedPostgresOptions,
    binaries?: Binaries,
  ): Promise<EmbeddedPostgres> {
    try {
      await stopOrphan(directory);
      const installation = await install(directory, binaries);
      const server = await startServer(installation, signal, log);
      // Another command may use the server of a command. SIGTERM lets it finish first.
      const signals = purpose === 'command' ? (['SIGTERM', ...STOP_SIGNALS] as const) : STOP_SIGNALS;
      const postgres = new EmbeddedPostgres(urlOf(directory), installation.created, () =>
        stopServer(server, signals),
      );
      void server.ended.then(() => {
        lock.close();
        if (!postgres.stopping)
          onFailure(
            new EmbeddedPostgresError(
              `the embedded PostgreSQL ended (${server.reason}): start the service again, or set DATABASE_URL to another PostgreSQL server`,
            ),
          );
      });
      return postgres;
    } catch (error) {
      lock.close();
      throw error;
    }
  }
}
