import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';

/** Milliseconds that messages under way get to be answered at the shutdown. */
const GRACE = 5_000;
/** Milliseconds for the last answers to leave the process: a transport that is closed loses what it has not sent. */
const FLUSH = 100;

/**
 * The messages that have come and have no answer yet. The shutdown waits for them before Nest closes the transports,
 * which would lose their answers.
 */
@Injectable()
export class MessagesUnderWay implements BeforeApplicationShutdown {
  private readonly messages = new Set<object>();
  private isShuttingDown = false;
  private onLast: (() => void) | undefined;

  /** Adds a message; false during the shutdown, when no more are taken. */
  add(message: object): boolean {
    if (this.isShuttingDown) return false;
    this.messages.add(message);
    return true;
  }

  /** To be told of each message that has its answer, as often as one likes. */
  delete(message: unknown): void {
    this.messages.delete(message as object);
    if (this.messages.size === 0) this.onLast?.();
  }

  /** How many there are. */
  get size(): number {
    return this.messages.size;
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isShuttingDown = true;
    if (this.messages.size > 0) await this.last();
    await new Promise((resolve) => setTimeout(resolve, FLUSH));
  }

  private last(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, GRACE);
      this.onLast = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
