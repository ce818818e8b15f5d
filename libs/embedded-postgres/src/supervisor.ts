import { setTimeout as delay } from 'node:timers/promises';
import { EmbeddedPostgresError, reasonOf } from './embedded-postgres.error.js';
import type { Server } from './server.js';

type Supervised = Pick<Server, 'ended' | 'stop'>;

const WINDOW_MS = 60_000;
const MAX_RESTARTS_PER_WINDOW = 5;

/** Restarts a server that ends by itself. Gives up if it ends six times within a minute. */
export class Supervisor {
  private readonly stopped = new AbortController();
  private readonly done: Promise<void>;
  private server: Supervised;
  private ends: number[] = [];

  constructor(
    server: Supervised,
    private readonly restart: (signal: AbortSignal) => Promise<Supervised>,
    private readonly onFailure: (error: EmbeddedPostgresError) => void,
    private readonly log: (line: string) => void,
    /** The delay before the first restart. It doubles with each further one within a minute. */
    private readonly firstDelayMs = 100,
  ) {
    this.server = server;
    this.done = this.watch();
  }

  /** Stops the server without a restart. */
  async stop(): Promise<void> {
    this.stopped.abort();
    await this.server.stop();
    await this.done;
  }

  private async watch(): Promise<void> {
    const { signal } = this.stopped;
    for (;;) {
      const reason = await this.server.ended();
      let failure = endedTooOftenError(reason);
      if (!signal.aborted) this.log(`PostgreSQL ended (${reason}): restarting it`);
      for (let running = false; !running;) {
        if (signal.aborted) return;
        if (!this.mayRestart()) {
          this.onFailure(failure);
          return;
        }
        try {
          await delay(this.firstDelayMs * 2 ** (this.ends.length - 1), undefined, { signal });
          this.server = await this.restart(signal);
          running = true;
        } catch (error) {
          failure = restartError(error);
        }
      }
      // stop() may have been called while the new server was starting.
      if (signal.aborted) await this.server.stop();
    }
  }

  private mayRestart(): boolean {
    const now = performance.now();
    this.ends = [...this.ends.filter((end) => end > now - WINDOW_MS), now];
    return this.ends.length <= MAX_RESTARTS_PER_WINDOW;
  }
}

function restartError(error: unknown): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `the embedded PostgreSQL ended, and cannot be restarted: ${reasonOf(error)}`,
  );
}

function endedTooOftenError(reason: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `the embedded PostgreSQL ended ${MAX_RESTARTS_PER_WINDOW + 1} times within a minute (${reason}): fix this, or set DATABASE_URL to another PostgreSQL server`,
  );
}
