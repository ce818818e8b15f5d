import { openDirectory } from './data-directory.js';
import type { EmbeddedPostgresError } from './embedded-postgres.error.js';
import { install, thisMachine, type Machine } from './installation.js';
import { findReady, waitUntilFree } from './occupancy.js';
import type { Purpose } from './postmaster.js';
import { DirectoryTaken, Server } from './server.js';
import { urlOf } from './socket-directory.js';
import { Supervisor } from './supervisor.js';

/** What a start needs to know. */
export interface EmbeddedPostgresOptions {
  /** The directory of the server's files; it is made on first use. */
  readonly dataDirectory: string;
  /** Gives up a start that is under way: what it has begun is stopped, and it throws the signal's reason. */
  readonly signal?: AbortSignal;
  /** Called once if the server ends without stop() and cannot be started again. */
  readonly onFailure?: (error: EmbeddedPostgresError) => void;
  /** Gets the server's own messages, a line each. */
  readonly log?: (line: string) => void;
}

const ignore = () => undefined;
// Lost races for one directory, after which a start gives up: each takes about a tenth of a second.
const ATTEMPTS = 20;

/** A real PostgreSQL server without any set-up, which only the user who started it can reach. */
export class EmbeddedPostgres {
  #stopping: Promise<void> | undefined;

  private constructor(
    /** The server's URL, for node-postgres and for TypeORM; it stays the same when the server is started again. */
    readonly url: string,
    /** Whether this start has made the data directory. */
    readonly created: boolean,
    private readonly supervisor?: Supervisor,
  ) {}

  /** Starts the server of a directory; throws an EmbeddedPostgresError when another service uses it. */
  static async start(
    options: EmbeddedPostgresOptions,
    machine: Machine = thisMachine,
  ): Promise<EmbeddedPostgres> {
    const directory = await openDirectory(options.dataDirectory);
    return EmbeddedPostgres.#persist(() => EmbeddedPostgres.#start('service', directory, options, machine));
  }

  /** Uses the directory's running server, and leaves it running at stop(); starts one where none runs. */
  static async attachOrStart(
    options: EmbeddedPostgresOptions,
    machine: Machine = thisMachine,
  ): Promise<EmbeddedPostgres> {
    const directory = await openDirectory(options.dataDirectory);
    return EmbeddedPostgres.#persist(async () => {
      const running = await findReady(directory, options.signal);
      if (running) return new EmbeddedPostgres(urlOf(running), false);
      return EmbeddedPostgres.#start('command', directory, options, machine);
    });
  }

  /** Stops the server that this start has begun and waits for its end; further calls wait for the same end. */
  stop(): Promise<void> {
    this.#stopping ??= this.supervisor?.stop() ?? Promise.resolve();
    return this.#stopping;
  }

  static async #start(
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

  /** Looks again at who uses the directory when another start was faster. */
  static async #persist(attempt: () => Promise<EmbeddedPostgres>): Promise<EmbeddedPostgres> {
    for (let left = ATTEMPTS; ; left -= 1) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof DirectoryTaken) || left <= 1) throw error;
      }
    }
  }
}
