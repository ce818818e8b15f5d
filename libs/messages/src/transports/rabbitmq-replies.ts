import { boundedAnswer, TOO_LARGE } from './answer-packet.js';
import type { MessageBudget } from './message-budget.js';
import type { RabbitMessage } from './unbegun-messages.js';

/** Bytes. RabbitMQ 4 closes the channel at a larger message, unless it is told otherwise. */
const LARGEST_ANSWER = 16 * 1024 * 1024;

/**
 * The channels of amqp-connection-manager, one after the other, that replace one another where a connection is lost.
 */
export interface Channels {
  on(event: 'error', listener: () => void): unknown;
  listenerCount(event: 'error'): number;
  sendToQueue(queue: string, bytes: Buffer, options: object): Promise<unknown>;
  close(): Promise<void>;
}

/** Sends answers to RabbitMQ. */
export class RabbitReplies {
  /** Answers that the broker has not confirmed. */
  private readonly unsent = new Set<Promise<unknown>>();
  private unsentBytes = 0;

  /** `channels` gives those of now. */
  constructor(
    private readonly channels: () => Channels,
    private readonly budget: MessageBudget,
  ) {}

  /** Resolves when the broker has the answer, or it is lost. Till then it counts, so that answers are bounded. */
  async send({ properties }: RabbitMessage, answer: Buffer): Promise<void> {
    const { replyTo, correlationId } = properties;
    if (typeof replyTo !== 'string') return;
    const bytes = answer.length > LARGEST_ANSWER ? TOO_LARGE : boundedAnswer(answer, this.unsentBytes);
    this.budget.take(bytes.length);
    this.unsentBytes += bytes.length;
    const sent = this.sendTo(replyTo, bytes, correlationId);
    this.unsent.add(sent);
    await sent;
    this.unsent.delete(sent);
    this.unsentBytes -= bytes.length;
    this.budget.free(bytes.length);
  }

  /** Resolves when the broker has all answers, or they are lost. */
  sent(): Promise<unknown> {
    return Promise.all(this.unsent);
  }

  /**
   * What its connection has lost goes over the next one, once; so it may come twice. The broker closes a channel alone
   * for what was sent over it, such as an answer above its limit: what that has lost is not sent again.
   */
  private async sendTo(queue: string, answer: Buffer, correlationId: string | undefined): Promise<void> {
    const send = () => this.channels().sendToQueue(queue, answer, { correlationId });
    try {
      await send().catch(send);
    } catch {
      // It is lost: the caller repeats the message.
    }
  }
}
