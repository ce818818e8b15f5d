import { openDirectory } from './data-directory.js';
import type { EmbeddedPostgresError } from './embedded-postgres.error.js';
import { install, thisMachine, type Machine } from './installation.js';
import { findReady, waitUntilFree } from './occupancy.js';
import type { Purpose } from './postmaster.js';
import { DirectoryTakenError, Server } from './server.js';
import { urlOf } from './socket-directory.js';
import { Supervisor } from './supervisor.js';

/** The options of a start. */
export interface EmbeddedPostgresOptions {
  /** The directory of the server's files. It is created on first use. */
  readonly dataDirectory: string;
  /** Aborts a start: the server is stopped. The promise rejects with the reason of the signal. */
  readonly signal?: AbortSignal;
  /** Called once if the server ends without stop() and cannot be restarted. */
  readonly onFailure?: (error: EmbeddedPostgresError) => void;
  /** Called with each line of the server's log. */
  readonly log?: (line: string) => void;
}

const ignore = () => undefined;
// The maximum number of tries if other starts take the directory first. A try takes about 0.1 s.
const MAX_ATTEMPTS = 20;

/** A real PostgreSQL server without any set-up. Only the user who started it can reach it. */
export class EmbeddedPostgres {
  private stopping: Promise<void> | undefined;

  private constructor(
    /** The server's URL, for node-postgres and TypeORM. A restart does not change it. */
    readonly url: string,
    /** Whether this start has created the data directory. */
    readonly created: boolean,
    private readonly supervisor?: Supervisor,
  ) {}

  /** Starts the server of a directory. Rejects if another service uses the directory. */
  static async start(
    options: EmbeddedPostgresOptions,
    machine: Machine = thisMachine,
  ): Promise<EmbeddedPostgres> {
    const directory = await openDirectory(options.dataDirectory);
    return EmbeddedPostgres.retryWhileTaken(() =>
      EmbeddedPostgres.startServer('service', directory, options, machine),
    );
  }

  /** Uses the running server, which stop() does not stop, or starts one. For commands. */
  static async attachOrStart(
    options: EmbeddedPostgresOptions,
    machine: Machine = thisMachine,
  ): Promise<EmbeddedPostgres> {
    const directory = await openDirectory(options.dataDirectory);
    return EmbeddedPostgres.retryWhileTaken(async () => {
      const running = await findReady(directory, options.signal);
      if (running) return new EmbeddedPostgres(urlOf(running), false);
      return EmbeddedPostgres.startServer('command', directory, options, machine);
    });
  }

  /** Stops the server if this object has started it. Resolves when it has ended. */
  stop(): Promise<void> {
    this.stopping ??= this.supervisor?.stop() ?? Promise.resolve();
    return this.stopping;
  }

  private static async startServer(
    purpose: Purpose,
    directory: string,
    { signal, onFailure = ignore, log = ignore }: EmbeddedPostgresOptions,
    machine: Machine,
  ): Promise<EmbeddedPostgres> {
    await waitUntilFree(directory, signal);
    const installation = await install(directory, machine, signal);
    const launch = async (startSignal?: AbortSignal) =>
      Server.start(installation, purpose, { signal: startSignal, log });
    const server = await launch(signal);
    const restart = async (restartSignal: AbortSignal) => {
      await waitUntilFree(directory, restartSignal);
      return launch(restartSignal);
    };
    const supervisor = new Supervisor(server, restart, onFailure, log);
    return new EmbeddedPostgres(urlOf(server.socketDirectory), installation.created, supervisor);
  }

  /** Tries again if another start has taken the directory first. */
  private static async retryWhileTaken(attempt: () => Promise<EmbeddedPostgres>): Promise<EmbeddedPostgres> {
    for (let remaining = MAX_ATTEMPTS; ; remaining -= 1) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof DirectoryTakenError) || remaining <= 1) throw error;
      }
    }
  }
}
