import type { BaseRpcContext, MessageHandler } from '@nestjs/microservices';
import { lastValueFrom, type Observable } from 'rxjs';
import { readPacket } from '../packet.js';
import { bytesOf, packetOf, UNKNOWN_PATTERN } from './answer-packet.js';
import { Turns } from './turns.js';

/** What is used of a server of Nest. Most of it is hidden by Nest's types. */
interface NestServer {
  readonly transportId: unknown;
  readonly messageHandlers: ReadonlyMap<unknown, MessageHandler>;
  onProcessingStartHook(transport: unknown, context: BaseRpcContext, handle: () => Promise<void>): unknown;
  onProcessingEndHook?(transport: unknown, context: BaseRpcContext): void;
  transformToObservable(answer: unknown): Observable<unknown>;
}

/** Makes Nest's context of a message with a pattern. */
type ContextOf = (pattern: string) => BaseRpcContext;

/**
 * Runs the handlers that Nest has found for messages. It stands in the place of Nest's `handleMessage`, which parses a
 * message before anybody looks at its length, begins all that come at once, and does not tell when one has its answer.
 */
export class MessageRunner {
  private readonly turns = new Turns();
  private readonly server: NestServer;

  constructor(
    server: object,
    private readonly bodyLimit: number,
  ) {
    this.server = server as NestServer;
  }

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
      const handler = this.server.messageHandlers.get(known ?? pattern);
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
      server.onProcessingStartHook(server.transportId, context, async () => {
        const packet = await handler(data, context)
          .then((answer) => lastValueFrom(server.transformToObservable(answer)))
          .then(
            (response) => ({ response }),
            // The filter has made the body of all errors.
            (err: unknown) => ({ err }),
          );
        server.onProcessingEndHook?.(server.transportId, context);
        resolve({ ...packet, isDisposed: true });
      });
    });
  }
}
