import { filter, type Observable } from 'rxjs';

export interface MessageServerOptions {
  /** The queue of RabbitMQ and queue group of NATS: one of its instances receives each message. */
  readonly queue: string;
  /** The maximum number of bytes of a message. */
  readonly bodyLimit: number;
  /** The methods of a logger, such as that of Nest, that are used here. */
  readonly logger: { log(line: string): void; error(line: string): void };
}

/** The state of the connection to a broker. */
export type BrokerState = 'connected' | 'disconnected' | 'queue refused' | 'queue deleted';

/** A Nest server that receives its messages from a broker. */
export interface BrokerServer {
  /** Emits each change of the state. */
  readonly states: Observable<BrokerState>;
  /** Resolves with the reason why the broker is out of reach. Never rejects. */
  findOutageReason(): Promise<string>;
  stopReceiving(): Promise<void>;
}

/** Returns the states of the connection of one of Nest's servers. */
export function connectionStatesOf({ status }: { readonly status: Observable<string> }) {
  const isKnown = (state: string): state is 'connected' | 'disconnected' =>
    state === 'connected' || state === 'disconnected';
  return status.pipe(filter(isKnown));
}
