import { DomainError, responseForThrown } from '../../../libs/errors/src/index.js';
import type { MessageServerOptions } from './broker-server.js';
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
