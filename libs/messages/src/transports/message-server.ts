import type { LoggerService } from '@nestjs/common';
import type { Observable } from 'rxjs';
import type { MessageTransport } from '../messages-under-way.js';

export interface MessageServerOptions {
  /** RabbitMQ's queue, NATS' queue group: each message goes to one of the instances that have the same. */
  readonly queue: string;
  /** Bytes of the data of a message. */
  readonly bodyLimit: number;
  /** The most messages that wait for their turn or are under way. */
  readonly mostUnderWay: number;
  /** How addresses for answers may begin, besides those that clients of the broker have by default. */
  readonly replyTo?: string | undefined;
  readonly logger: Log;
}

/** A logger, such as Nest's. It gets a line when a broker is reached, and an error when something is wrong. */
export interface Log {
  log(line: string): void;
  error(line: string): void;
}

/**
 * Returns a function that decides whether an answer may go to the reply address of a message. Any other address may be
 * a subject or queue on which the sender could act with the permissions of the service.
 */
export function replyRule(usual: string, { replyTo = usual, logger }: MessageServerOptions) {
  let isLogged = false;
  return (address: string | undefined): boolean => {
    if (!address || address.startsWith(usual) || address.startsWith(replyTo)) return true;
    const prefixes = [...new Set([usual, replyTo])].join(' or ');
    // Once: a sender without a token could fill the log.
    if (!isLogged)
      logger.error(`messages: a message was refused: the address for its answer must begin with ${prefixes}`);
    isLogged = true;
    return false;
  };
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

const nothing = () => undefined;
/** Nest's own lines about a connection. Ours tell it, in one line each way. */
export const SILENT: LoggerService = { log: nothing, error: nothing, warn: nothing, debug: nothing };
