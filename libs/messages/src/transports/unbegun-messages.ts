import type { MessageBudget } from './message-budget.js';

/** The most messages that wait here to begin. */
export const PREFETCH = 32;
/** What was redelivered so often has begun nowhere. */
const MOST_REDELIVERIES = 3;

/** A message of RabbitMQ. */
export interface RabbitMessage {
  readonly content: Buffer;
  readonly properties: {
    readonly replyTo?: string;
    readonly correlationId?: string;
    readonly headers?: Readonly<Record<string, unknown>>;
  };
}

/** What is used of a channel of amqplib. */
export interface AcknowledgingChannel {
  ack(message: RabbitMessage, allUpTo?: boolean): void;
  nackAll(requeue: boolean): void;
  prefetch(count: number): Promise<unknown>;
}

/**
 * The messages that a channel has brought and that have not begun. Each is acknowledged when it begins, and begins when
 * the budget has a place for it: till then the broker gives it to another instance if this one ends.
 */
export class UnbegunMessages {
  private readonly waiting: RabbitMessage[] = [];
  private isBeginning = false;

  /** `begin` gets each message once, with its place taken. */
  constructor(
    private readonly channel: AcknowledgingChannel,
    private readonly budget: MessageBudget,
    private readonly begin: (message: RabbitMessage) => void,
  ) {}

  add(message: RabbitMessage): void {
    this.waiting.push(message);
    void this.goOn();
  }

  /** Begins what waits, as far as there are places. Call it when one was freed. */
  async goOn(): Promise<void> {
    if (this.isBeginning) return;
    this.isBeginning = true;
    for (let next = this.takeNext(); next.length > 0; next = this.takeNext()) {
      try {
        // All that came before has begun.
        this.channel.ack(next.at(-1)!, true);
        // Before the broker has the acknowledgement it may give them to another instance, and they would run twice.
        await this.flush();
        next.forEach(this.begin);
      } catch {
        // The channel is closed. What the broker has acknowledged already is lost: its sender repeats it.
        for (const { content } of next) this.budget.free(content.length);
      }
    }
    this.isBeginning = false;
  }

  /** Begins no more. Resolves when what waited is back in the broker, and what was acknowledged has begun. */
  async giveBack(): Promise<void> {
    this.waiting.length = 0;
    this.channel.nackAll(true);
    await this.flush();
  }

  private takeNext(): RabbitMessage[] {
    const next: RabbitMessage[] = [];
    for (let [first] = this.waiting; first; [first] = this.waiting) {
      if (!this.budget.fits(first.content.length)) break;
      this.budget.take(first.content.length);
      next.push(first);
      this.waiting.shift();
    }
    return next;
  }

  /** Resolves when the broker has all that was sent before: it answers this, and no acknowledgement. */
  private flush(): Promise<unknown> {
    return this.channel.prefetch(PREFETCH);
  }
}

/** Whether a message came to several instances which all ended before they began it. Only quorum queues count that. */
export function isRedeliveredTooOften({ properties }: RabbitMessage): boolean {
  const count = properties.headers?.['x-delivery-count'];
  return typeof count === 'number' && count >= MOST_REDELIVERIES;
}
