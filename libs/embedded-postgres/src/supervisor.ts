import { setTimeout as delay } from 'node:timers/promises';
import { EmbeddedPostgresError, reasonOf } from './embedded-postgres.error.js';
import type { Server } from './server.js';

type Supervised = Pick<Server, 'ended' | 'stop'>;

const WINDOW_MS = 60_000;
const RESTARTS_PER_WINDOW = 5;

/** Restarts a server that ends by itself. Gives up when it has ended six times within a minute. */
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
    /** Milliseconds before the first restart. Within a minute each further pause is twice as long. */
    private readonly firstPause = 100,
  ) {
    this.server = server;
    this.done = this.watch();
  }

  /** Stops the server for good. */
  async stop(): Promise<void> {
    this.stopped.abort();
    await this.server.stop();
    await this.done;
  }

  private async watch(): Promise<void> {
    const { signal } = this.stopped;
    for (;;) {
      const reason = await this.server.ended();
      let failure = endedTooOften(reason);
      if (!signal.aborted) this.log(`PostgreSQL ended (${reason}): starting it again`);
      for (let running = false; !running;) {
        if (signal.aborted) return;
        if (!this.mayRestart()) {
          this.onFailure(failure);
          return;
        }
        try {
          await delay(this.firstPause * 2 ** (this.ends.length - 1), undefined, { signal });
          this.server = await this.restart(signal);
          running = true;
        } catch (error) {
          failure = notStartedAgain(error);
        }
      }
      // stop() may have been called while the new server was starting.
      if (signal.aborted) await this.server.stop();
    }
  }

  private mayRestart(): boolean {
    const now = performance.now();
    this.ends = [...this.ends.filter((end) => end > now - WINDOW_MS), now];
    return this.ends.length <= RESTARTS_PER_WINDOW;
  }
}

function notStartedAgain(error: unknown): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `the embedded PostgreSQL ended, and cannot be started again: ${reasonOf(error)}`,
  );
}

function endedTooOften(reason: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `the embedded PostgreSQL ended ${RESTARTS_PER_WINDOW + 1} times within a minute (${reason}): remedy this, or set DATABASE_URL to another PostgreSQL server`,
  );
}
