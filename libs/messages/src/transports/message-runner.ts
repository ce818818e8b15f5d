import type { BaseRpcContext, MessageHandler } from '@nestjs/microservices';
import { isObservable, lastValueFrom } from 'rxjs';
import { readPacket } from '../packet.js';
import { bytesOf, packetOf, UNKNOWN_PATTERN } from './answer-packet.js';
import { Turns } from './turns.js';

/** What a server of Nest has for its own subclasses, and gives to the runner. */
interface NestServer {
  readonly handlers: ReadonlyMap<unknown, MessageHandler>;
  /** Calls Nest's hook before a message is handled, which calls `handle`. */
  begin(context: BaseRpcContext, handle: () => Promise<void>): void;
  /** Calls Nest's hook after the answer. */
  end(context: BaseRpcContext): void;
}

/** Makes Nest's context of a message with a pattern. */
type ContextOf = (pattern: string) => BaseRpcContext;

/**
 * Runs the handlers that Nest has found for messages. It stands in the place of Nest's `handleMessage`, which parses a
 * message before anybody looks at its length, begins all that come at once, and does not tell when one has its answer.
 */
export class MessageRunner {
  private readonly turns = new Turns();

  constructor(
    private readonly server: NestServer,
    private readonly bodyLimit: number,
  ) {}

  /**
   * Resolves with the answer to a message, in the form that Nest's clients take. It never rejects. The pattern is that
   * of the message, unless the transport knows it.
   */
  run(bytes: Buffer, contextOf: ContextOf, pattern?: string): Promise<Buffer> {
    return new Promise((resolve) => {
      this.turns.take(() =>
        resolve(
          this.runNow(bytes, contextOf, pattern)
            .then(bytesOf)
            .catch((error: unknown) => bytesOf(packetOf(error))),
        ),
      );
    });
  }

  /** Resolves when all messages that wait have had their turn. */
  begun(): Promise<void> {
    return new Promise((resolve) => this.turns.take(resolve));
  }

  private async runNow(bytes: Buffer, contextOf: ContextOf, known?: string): Promise<object> {
    try {
      const { id, pattern, data } = readPacket(bytes, this.bodyLimit);
      const handler = this.server.handlers.get(known ?? pattern);
      const answer = handler
        ? await this.handle(handler, data, contextOf(known ?? (pattern as string)))
        : UNKNOWN_PATTERN;
      return id === undefined ? answer : { ...answer, id };
    } catch (error) {
      return packetOf(error);
    }
  }

  private handle(handler: MessageHandler, data: unknown, context: BaseRpcContext): Promise<object> {
    const { server } = this;
    return new Promise((resolve) => {
      server.begin(context, async () => {
        const packet = await handler(data, context)
          .then((answer: unknown) => (isObservable(answer) ? lastValueFrom(answer) : answer))
          .then(
            (response) => ({ response }),
            // The filter has made the body of all errors.
            (err: unknown) => ({ err }),
          );
        server.end(context);
        resolve({ ...packet, isDisposed: true });
      });
    });
  }
}
