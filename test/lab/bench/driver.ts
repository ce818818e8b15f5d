import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Order, Outcome } from './drive.js';

/**
 * The load driver as seen from the bench: one process for the whole run, so that it is warm for all programs alike, and
 * its work shows in no measure of the others.
 */
export class Driver {
  private readonly child: ChildProcess = fork(join(import.meta.dirname, 'drive.js'));

  /** Runs one round. Throws where the program cannot be reached. */
  async run(order: Order): Promise<Outcome> {
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
    }
  }

  stop(): void {
    this.child.kill('SIGKILL');
  }
}
