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
  /** The address for answers that is allowed besides the broker's inboxes; with a `*` at its end, how such addresses begin. */
  readonly replyQueues?: string | undefined;
  readonly logger: Log;
}

/** A logger, such as Nest's. It gets a line when a broker is reached, and an error when something is wrong. */
interface Log {
  log(line: string): void;
  error(line: string): void;
}

/**
 * Returns a function that decides whether an answer may go to the reply address of a message. Any other address may be
 * a subject or queue on which the sender could act with the permissions of the service.
 */
export function replyRule(usual: string, { replyQueues, logger }: MessageServerOptions) {
  const allowed = [`${usual}*`, ...(replyQueues === undefined ? [] : [replyQueues])];
  const matches = (address: string) => (pattern: string) =>
    pattern.endsWith('*') ? address.startsWith(pattern.slice(0, -1)) : address === pattern;
  let isLogged = false;
  return (address: string | undefined): boolean => {
    if (!address || allowed.some(matches(address))) return true;
    // Once: a sender without a token could fill the log.
    if (!isLogged)
      logger.error(
        `messages: a message was refused: the address for its answer must be ${allowed.join(' or ')}`,
      );
    isLogged = true;
    return false;
  };
}

/**
 * Returns a function that counts messages. It logs the first at once, and later ones at most once a minute, so that a
 * sender cannot fill the log.
 */
export function oncePerMinute(log: (count: number) => void): () => void {
  let count = 0;
  let timer: NodeJS.Timeout | undefined;
  const logCount = () => {
    timer = count > 0 ? setTimeout(logCount, 60_000).unref() : undefined;
    if (count > 0) log(count);
    count = 0;
  };
  return () => {
    count++;
    if (timer === undefined) logCount();
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
