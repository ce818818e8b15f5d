import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Order, Outcome } from './drive.js';

/** The load driver as seen from the bench: one process for the whole run, so that it is warm for all programs alike. */
export class Driver {
  private constructor(
    private readonly child: ChildProcess,
    private readonly signal: AbortSignal,
  ) {}

  /** Starts the process; an abort ends it, and with it the load. */
  static start(signal: AbortSignal): Driver {
    const child = fork(join(import.meta.dirname, 'load-driver.js'), { signal, killSignal: 'SIGKILL' });
    child.on('error', () => undefined);
    return new Driver(child, signal);
  }

  /** Runs one round. Throws where the program cannot be reached, or the signal's reason. */
  async run(order: Order): Promise<Outcome> {
    this.signal.throwIfAborted();
    const ended = new AbortController();
    const end = () => ended.abort();
    this.child.once('exit', end);
    try {
      const answer = once(this.child, 'message', { signal: ended.signal });
      this.child.send(order);
      const [{ outcome, fault }] = (await answer) as [{ outcome?: Outcome; fault?: string }];
      if (outcome === undefined) throw new Error(`the load driver failed: ${fault}`);
      return outcome;
    } finally {
      this.child.off('exit', end);
      this.signal.throwIfAborted();
    }
  }

  /** Ends the process. */
  stop(): void {
    this.child.kill('SIGKILL');
  }
}
