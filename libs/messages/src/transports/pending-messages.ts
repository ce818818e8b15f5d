import type { Channel, ConsumeMessage, MessageProperties } from 'amqplib';
import type { MessageBudget } from './message-budget.js';

/** The maximum number of messages that wait here. */
export const PREFETCH_MESSAGES = 32;
/** The number of redeliveries after which a message is refused. */
const MAX_REDELIVERIES = 3;

/** A message of RabbitMQ, with the types of properties for which amqplib has `any`. */
export interface RabbitMessage extends ConsumeMessage {
  properties: Properties;
}

interface Properties extends MessageProperties {
  replyTo: string | undefined;
  correlationId: string | undefined;
  headers: Record<string, unknown> | undefined;
}

/**
 * The messages that a channel has delivered and that have not started. A message starts, and is
 * acknowledged, when the budget has slots for it. Until then the broker delivers it to another
 * instance if this one ends.
 */
export class PendingMessages {
  private readonly waiting: RabbitMessage[] = [];
  private isStarting = false;

  /** `start` is called once with each message, whose slots are reserved. */
  constructor(
    private readonly channel: Pick<Channel, 'ack' | 'nackAll' | 'prefetch'>,
    private readonly budget: MessageBudget,
    private readonly start: (message: RabbitMessage) => void,
  ) {}

  add(message: RabbitMessage): void {
    this.waiting.push(message);
    void this.startNext();
  }

  /** Starts waiting messages while there are slots. Call it when slots were released. */
  async startNext(): Promise<void> {
    if (this.isStarting) return;
    this.isStarting = true;
    for (let next = this.takeNext(); next.length > 0; next = this.takeNext()) {
      try {
        // All earlier messages have started.
        this.channel.ack(next.at(-1)!, true);
        // Until the broker has the acknowledgement it may deliver them to another instance, too.
        await this.flush();
        next.forEach(this.start);
      } catch {
        // The channel is closed. A message that was acknowledged is lost: its sender repeats it.
        for (const { content } of next) this.budget.release(content.length);
      }
    }
    this.isStarting = false;
  }

  /** Starts no more. Resolves when the broker has requeued what waited and the rest has started. */
  async requeueAll(): Promise<void> {
    this.waiting.length = 0;
    this.channel.nackAll(true);
    await this.flush();
  }

  private takeNext(): RabbitMessage[] {
    const next: RabbitMessage[] = [];
    for (let [first] = this.waiting; first; [first] = this.waiting) {
      if (!this.budget.fits(first.content.length)) break;
      this.budget.reserve(first.content.length);
      next.push(first);
      this.waiting.shift();
    }
    return next;
  }

  /** Resolves when the broker has all acknowledgements, which it does not confirm themselves. */
  private flush(): Promise<unknown> {
    return this.channel.prefetch(PREFETCH_MESSAGES);
  }
}

/** Returns whether several instances ended before a message started. Quorum queues count that. */
export function isRedeliveredTooOften({ properties }: RabbitMessage): boolean {
  const count = properties.headers?.['x-delivery-count'];
  return typeof count === 'number' && count >= MAX_REDELIVERIES;
}
