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
