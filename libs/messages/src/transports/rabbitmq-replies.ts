import type { ChannelWrapper } from 'amqp-connection-manager';
import type { MessageBudget } from './message-budget.js';
import type { RabbitMessage } from './pending-messages.js';
import { limitReply, TOO_LARGE_REPLY } from './reply-packet.js';

/** The default limit of RabbitMQ 4 for a message. It closes the channel at a larger one. */
const MAX_REPLY_BYTES = 16 * 1024 * 1024;

/** The most bytes of a short string of AMQP 0-9-1 (section 4.2.5.3), such as a reply address. */
const MAX_SHORT_STRING_BYTES = 255;

/** Sends replies to RabbitMQ. */
export class RabbitReplies {
  /** The replies that the broker has not confirmed. */
  private readonly unsent = new Set<Promise<unknown>>();
  private unsentBytes = 0;

  /** `channel` returns the current wrapper. */
  constructor(
    private readonly channel: () => ChannelWrapper,
    private readonly budget: MessageBudget,
  ) {}

  /** Resolves when the broker has the reply, or it is lost. Until then it uses the budget. */
  async send({ properties }: RabbitMessage, reply: Buffer): Promise<void> {
    const { replyTo, correlationId } = properties;
    // Bytes that are not UTF-8 have become longer, and amqplib fails if it cannot encode a text.
    if (typeof replyTo !== 'string' || [replyTo, correlationId].some(isTooLong)) return;
    const bytes = reply.length > MAX_REPLY_BYTES ? TOO_LARGE_REPLY : limitReply(reply, this.unsentBytes);
    this.budget.reserve(bytes.length);
    this.unsentBytes += bytes.length;
    const options = { ...(correlationId !== undefined && { correlationId }) };
    // Sent again if the connection was lost, so it may arrive twice. It is lost if the broker closed
    // the channel after both; the client sends its message again.
    const sendOnce = () => this.channel().sendToQueue(replyTo, bytes, options);
    const sent = sendOnce()
      .catch(sendOnce)
      .catch(() => undefined);
    this.unsent.add(sent);
    await sent;
    this.unsent.delete(sent);
    this.unsentBytes -= bytes.length;
    this.budget.release(bytes.length);
  }

  /** Resolves when the broker has all replies, or they are lost. */
  sent(): Promise<unknown> {
    return Promise.all(this.unsent);
  }
}

function isTooLong(text: string | undefined): boolean {
  return Buffer.byteLength(text ?? '') > MAX_SHORT_STRING_BYTES;
}
