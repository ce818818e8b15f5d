import { NO_MESSAGE_HANDLER } from '@nestjs/microservices/constants.js';
import { responseForThrown, DomainError } from '../../../errors/src/index.js';
import { packetJson } from '../packet-json.js';

/** Returns the reply with an error, without the id of its message. */
export function errorPacket(error: unknown): object {
  return { err: responseForThrown(error).body, isDisposed: true };
}

/** Returns the bytes of a packet for a broker. */
export function packetBytes(packet: object): Buffer {
  return Buffer.from(packetJson(packet));
}

/** The reply to a pattern without a handler. */
export const UNKNOWN_PATTERN = errorPacket(new DomainError('NOT_FOUND', 'no such pattern'));

/** Replaces Nest's reply to a pattern without a handler, which is a text, by an error body. */
export const REPLY_SERIALIZER = {
  serialize: (packet: { readonly err?: unknown }): object =>
    packet.err === NO_MESSAGE_HANDLER ? { ...packet, ...UNKNOWN_PATTERN } : packet,
};

/** The reply to a message that is not started. Serialized once: a flood needs it 100,000 times. */
export const BUSY_REPLY = packetBytes(errorPacket(new DomainError('SERVICE_UNAVAILABLE')));

/** The reply instead of one that is too large for the transport. */
export const TOO_LARGE_REPLY = packetBytes(
  errorPacket(
    new DomainError('PAYLOAD_TOO_LARGE', 'the response is too large for the transport: request fewer items'),
  ),
);

/** The number of bytes of unsent replies above which no large reply is sent. */
export const MAX_UNSENT_BYTES = 64 * 1024 * 1024;
/** The maximum size of a small reply. The reply to a record is smaller. */
const SMALL_REPLY_BYTES = 64 * 1024;

/**
 * Returns the reply to send: BUSY_REPLY instead of a large reply while too many bytes are unsent.
 * The check before a message starts is not enough, because many may start before the first is
 * answered.
 */
export function limitReply(reply: Buffer, unsentBytes: number): Buffer {
  return unsentBytes > MAX_UNSENT_BYTES && reply.length > SMALL_REPLY_BYTES ? BUSY_REPLY : reply;
}
