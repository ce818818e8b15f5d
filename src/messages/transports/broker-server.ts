import { filter, type Observable } from 'rxjs';
import { DomainError, responseForThrown } from '../../../libs/errors/src/index.js';
import { messageTooLarge } from '../../../libs/strict-request/src/index.js';

/** The reply if an answer is larger than the broker accepts. */
export const ANSWER_TOO_LARGE = refusal(
  new DomainError('PAYLOAD_TOO_LARGE', 'the response is too large for the transport: request fewer items'),
);

/** Returns the reply to a message that is larger than allowed. */
export function messageRefusal(maxBytes: number): Buffer {
  return refusal(messageTooLarge(maxBytes));
}

/** Without the id of the message, which Nest's clients accept: the message is not parsed. */
function refusal(error: DomainError): Buffer {
  return Buffer.from(JSON.stringify({ err: responseForThrown(error).body, isDisposed: true }));
}

/**
 * Returns a function that decides whether a reply may be sent to an address. With any other address
 * a sender could write to a subject or queue with the permissions of the service.
 */
export function inboxRule(prefixes: readonly string[], logger: MessageServerOptions['logger']) {
  let isLogged = false;
  return (address: string | undefined): boolean => {
    if (!address || prefixes.some((prefix) => address.startsWith(prefix))) return true;
    // Once: a sender without a token could fill the log.
    if (!isLogged)
      logger.error(
        `messages: a message was refused: its reply address must be ${prefixes.map((prefix) => `${prefix}*`).join(' or ')}`,
      );
    isLogged = true;
    return false;
  };
}

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
