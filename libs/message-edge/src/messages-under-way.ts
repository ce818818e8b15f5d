import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';

/** The most milliseconds that a shutdown waits for the answers to messages. */
const GRACE = 5_000;
/** Milliseconds for the last answers to leave the process: a closed transport loses what it has not sent. */
const FLUSH = 100;

/**
 * The messages without an answer yet. The shutdown waits for them before Nest closes the transports, which would lose
 * the answers.
 */
@Injectable()
export class MessagesUnderWay implements BeforeApplicationShutdown {
  private readonly messages = new Set<object>();
  private isShuttingDown = false;
  private onLast: (() => void) | undefined;

  /** Adds a message. Returns false during a shutdown, when no more are taken. */
  add(message: object): boolean {
    if (this.isShuttingDown) return false;
    this.messages.add(message);
    return true;
  }

  /** Removes a message that has its answer. Further calls for the same message do nothing. */
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
