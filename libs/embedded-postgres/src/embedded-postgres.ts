import { openDirectory } from './data-directory.js';
import type { EmbeddedPostgresError } from './embedded-postgres.error.js';
import { install, thisMachine, type Machine } from './installation.js';
import { findReady, waitUntilFree } from './occupancy.js';
import type { Purpose } from './postmaster.js';
import { DirectoryTaken, Server } from './server.js';
import { urlOf } from './socket-directory.js';
import { Supervisor } from './supervisor.js';

/** The settings of a start. */
export interface EmbeddedPostgresOptions {
  /** The directory of the server's files. It is made on first use. */
  readonly dataDirectory: string;
  /** Aborts a start that is under way: it stops what it has begun and throws the signal's reason. */
  readonly signal?: AbortSignal;
  /** Called once, if the server ends without stop() and cannot be restarted. */
  readonly onFailure?: (error: EmbeddedPostgresError) => void;
  /** Gets each line of the server's own log. */
  readonly log?: (line: string) => void;
}

const ignore = () => undefined;
// How often a start tries again when another start takes the directory first. Each try takes about 0.1 s.
const ATTEMPTS = 20;

/** A real PostgreSQL server without any set-up. Only the user who started it can reach it. */
export class EmbeddedPostgres {
  private stopping: Promise<void> | undefined;

  private constructor(
    /** The server's URL, for node-postgres and TypeORM. It stays the same when the server restarts. */
    readonly url: string,
    /** Whether this start has made the data directory. */
    readonly created: boolean,
    private readonly supervisor?: Supervisor,
  ) {}

  /** Starts the server of a directory. Throws an EmbeddedPostgresError where another service uses the directory. */
  static async start(
    options: EmbeddedPostgresOptions,
    machine: Machine = thisMachine,
  ): Promise<EmbeddedPostgres> {
    const directory = await openDirectory(options.dataDirectory);
    return EmbeddedPostgres.retryWhileTaken(() =>
      EmbeddedPostgres.startServer('service', directory, options, machine),
    );
  }

  /** For a command: uses the running server, and stop() leaves it running. Starts one where none runs. */
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

  /** Stops the server if this object has started it, and waits for its end. Further calls wait for the same end. */
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
    const launch = async (during?: AbortSignal) =>
      Server.start(installation, purpose, { signal: during, log });
    const server = await launch(signal);
    const restart = async (during: AbortSignal) => {
      await waitUntilFree(directory, during);
      return launch(during);
    };
    const supervisor = new Supervisor(server, restart, onFailure, log);
    return new EmbeddedPostgres(urlOf(server.socketDirectory), installation.created, supervisor);
  }

  /** Tries again when another start took the directory first. */
  private static async retryWhileTaken(attempt: () => Promise<EmbeddedPostgres>): Promise<EmbeddedPostgres> {
    for (let left = ATTEMPTS; ; left -= 1) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof DirectoryTaken) || left <= 1) throw error;
      }
    }
  }
}
