import { NO_MESSAGE_HANDLER } from '@nestjs/microservices/constants.js';
import { responseForThrown, DomainError } from '../../../errors/src/index.js';
import { packetJson } from '../written-answer.js';

/** The answer with an error, to a message whose id is unknown or elsewhere. */
export function packetOf(error: unknown): object {
  return { err: responseForThrown(error).body, isDisposed: true };
}

/** What is sent to a broker. */
export function bytesOf(packet: object): Buffer {
  return Buffer.from(packetJson(packet));
}

/** The answer to a pattern that nobody handles. */
export const UNKNOWN_PATTERN = packetOf(new DomainError('NOT_FOUND', 'no such pattern'));

/** What answers with the body of all errors where Nest answers with a text: to a pattern that nobody handles. */
export const SERIALIZER = {
  serialize: (packet: { readonly err?: unknown }): object =>
    packet.err === NO_MESSAGE_HANDLER ? { ...packet, ...UNKNOWN_PATTERN } : packet,
};

/** The answer to a message that is not begun. Made once: a flood gets it a hundred thousand times. */
export const BUSY = bytesOf(packetOf(new DomainError('SERVICE_UNAVAILABLE')));

/** The answer instead of one that the transport does not take. */
export const TOO_LARGE = bytesOf(
  packetOf(
    new DomainError(
      'PAYLOAD_TOO_LARGE',
      'the answer is larger than the transport takes: ask for fewer items',
    ),
  ),
);

/** The most bytes of answers that a broker has yet to take. */
export const MOST_UNSENT = 64 * 1024 * 1024;
/** Bytes. What tells that something was recorded is shorter. */
const SHORT = 64 * 1024;

/**
 * What is sent as an answer while so many bytes of others wait for the broker. Many messages may begin before the first
 * of them is answered, so it is looked at here too.
 */
export function boundedAnswer(answer: Buffer, unsent: number): Buffer {
  return unsent > MOST_UNSENT && answer.length > SHORT ? BUSY : answer;
}
