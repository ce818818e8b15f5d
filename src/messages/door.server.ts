import type { LoggerService } from '@nestjs/common';
import { NO_MESSAGE_HANDLER } from '@nestjs/microservices/constants.js';
import type { Observable } from 'rxjs';
import type { MessageTransport } from '../../libs/message-edge/src/index.js';
import { answerForThrown, DomainError } from '../../libs/errors/src/index.js';

/** Each message goes to one instance. */
export const QUEUE = 'time-logs';

/** The limits of the service that messages share with requests. */
export interface DoorLimits {
  /** Bytes of a message. */
  readonly bodyLimit: number;
  /** The most creates that wait for a commit. */
  readonly writeQueue: number;
}

/** How it stands with the broker: whether messages can come, and if not, why. */
export type Reach = 'connected' | 'away' | 'queue refused';

/** What the service needs of a server of Nest that gets its messages from a broker. */
export interface BrokerServer extends MessageTransport {
  /** Changes of the reach. */
  readonly reach: Observable<Reach>;
  /** Why the broker is out of reach, in the words of the system or its own. Never rejects. */
  whyAway(): Promise<string>;
}

/** Nest's own lines about a connection. Ours tell it, in one line each way. */
export const SILENT: LoggerService = { log: nothing, error: nothing, warn: nothing, debug: nothing };

/** The answer instead of one that the transport does not take. */
export function tooLarge(): object {
  const message = 'the answer is larger than the transport takes: ask for fewer with limit';
  return packetOf(new DomainError('PAYLOAD_TOO_LARGE', message));
}

/** What answers with the body of all errors where Nest answers with a text: to a pattern that nobody handles. */
export const SERIALIZER = {
  serialize: (packet: { readonly err?: unknown }): object =>
    packet.err === NO_MESSAGE_HANDLER ? { ...packet, ...UNKNOWN_PATTERN } : packet,
};

/** The answer with an error, to a message whose id is unknown or elsewhere. */
export function packetOf(error: unknown): object {
  return { err: answerForThrown(error).body, isDisposed: true };
}

/** What is sent to a broker. */
export function bytesOf(packet: object): Buffer {
  return Buffer.from(JSON.stringify(packet));
}

/** The answer to a message that is not begun. Made once: a flood gets it a hundred thousand times. */
export const BUSY = bytesOf(packetOf(new DomainError('SERVICE_UNAVAILABLE')));

/** The most bytes of answers that a broker has yet to take. */
export const MOST_UNSENT = 64 * 1024 * 1024;
/** Bytes. What tells that a log was recorded is shorter. */
const SHORT = 64 * 1024;

/**
 * What is sent as an answer while so many bytes of others wait for the broker. Many messages may begin before the first
 * of them is answered, so it is looked at here too.
 */
export function boundedAnswer(answer: Buffer, unsent: number): Buffer {
  return unsent > MOST_UNSENT && answer.length > SHORT ? BUSY : answer;
}

/** The answer to a pattern that nobody handles. */
export const UNKNOWN_PATTERN = packetOf(new DomainError('NOT_FOUND', 'no such pattern'));

function nothing(): void {
  return;
}
