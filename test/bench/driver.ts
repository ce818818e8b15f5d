import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Order, Outcome } from './drive.js';

/** The load driver as seen from the bench: one process for the whole run, so that it is warm for all programs alike. */
export class Driver {
  private constructor(private readonly child: ChildProcess) {}

  static start(): Driver {
    return new Driver(fork(join(import.meta.dirname, 'load-driver.js')));
  }

  /** Runs one round. Throws where the program cannot be reached or the signal aborts. */
  async run(order: Order, signal: AbortSignal): Promise<Outcome> {
    signal.throwIfAborted();
    const ended = new AbortController();
    try {
      const answer = once(this.child, 'message', { signal: AbortSignal.any([signal, ended.signal]) });
      this.child.once('exit', () => ended.abort());
      this.child.send(order);
      const [{ outcome, fault }] = (await answer) as [{ outcome?: Outcome; fault?: string }];
      if (outcome === undefined) throw new Error(`the load driver failed: ${fault}`);
      return outcome;
    } finally {
      this.child.removeAllListeners('exit');
    }
  }

  /** Ends the process. */
  stop(): void {
    this.child.kill('SIGKILL');
  }
}
