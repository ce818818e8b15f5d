import type { LoggerService } from '@nestjs/common';
import type { Observable } from 'rxjs';
import type { MessageTransport } from '../in-flight-messages.js';

export interface MessageServerOptions {
  /** The queue of RabbitMQ and queue group of NATS: one of its instances receives each message. */
  readonly queue: string;
  /** The maximum number of bytes of the data of a message. */
  readonly bodyLimit: number;
  /** The maximum number of messages that wait or are in flight. */
  readonly maxInFlight: number;
  /** A reply address or, with `*` at its end, prefix that is allowed in addition to inboxes. */
  readonly replyQueues?: string | undefined;
  readonly logger: Log;
}

/** The methods of a logger, such as that of Nest, that are used here. */
interface Log {
  log(line: string): void;
  error(line: string): void;
}

/**
 * Returns a function that decides whether a reply may be sent to an address. With any other address
 * a sender could write to a subject or queue with the permissions of the service.
 */
export function replyRule(inboxPrefix: string, { replyQueues, logger }: MessageServerOptions) {
  const allowed = [`${inboxPrefix}*`, ...(replyQueues === undefined ? [] : [replyQueues])];
  const matches = (address: string) => (pattern: string) =>
    pattern.endsWith('*') ? address.startsWith(pattern.slice(0, -1)) : address === pattern;
  let isLogged = false;
  return (address: string | undefined): boolean => {
    if (!address || allowed.some(matches(address))) return true;
    // Once: a sender without a token could fill the log.
    if (!isLogged)
      logger.error(`messages: a message was refused: its reply address must be ${allowed.join(' or ')}`);
    isLogged = true;
    return false;
  };
}

/** The state of the connection to a broker. */
export type BrokerState = 'connected' | 'disconnected' | 'queue refused';

/** A Nest server that receives its messages from a broker. */
export interface BrokerServer extends MessageTransport {
  /** Emits each change of the state. */
  readonly brokerState: Observable<BrokerState>;
  /** Resolves with the reason why the broker is out of reach. Never rejects. */
  findOutageReason(): Promise<string>;
}

const nothing = () => undefined;
/** Suppresses Nest's own lines about a connection. connectMessages logs them instead. */
export const SILENT_LOGGER: LoggerService = { log: nothing, error: nothing, warn: nothing, debug: nothing };
