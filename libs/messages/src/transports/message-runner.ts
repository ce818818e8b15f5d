import type { BaseRpcContext, MessageHandler, ServerNats, ServerRMQ } from '@nestjs/microservices';
import { isObservable, lastValueFrom } from 'rxjs';
import { messageTooLarge } from '../../../strict-request/src/index.js';
import { readPacket } from '../packet.js';
import { MessageScheduler } from './message-scheduler.js';
import { errorPacket, packetBytes, UNKNOWN_PATTERN } from './reply-packet.js';

/** The members of a Nest server that are used here. */
interface NestServer {
  readonly messageHandlers: ReadonlyMap<unknown, MessageHandler>;
  readonly transportId: unknown;
  /** Nest's hook before a message is handled. It calls `handle`. */
  onProcessingStartHook(transport: unknown, context: BaseRpcContext, handle: () => Promise<void>): void;
  /** Nest's hook after the reply, if one was set. */
  onProcessingEndHook?(transport: unknown, context: BaseRpcContext): void;
}

/** Creates Nest's context for a message with a pattern. */
type ContextFactory = (pattern: string) => BaseRpcContext;

/**
 * Runs the handlers of Nest for messages. It replaces Nest's `handleMessage`, which parses a
 * message before its size is checked, starts all messages that arrive at once, and does not report
 * when a message is answered.
 */
export class MessageRunner {
  /** The reply to a message that is too large to be parsed. */
  readonly tooLargeReply: Buffer;
  private readonly scheduler = new MessageScheduler();
  private readonly server: NestServer;

  constructor(
    server: ServerNats | ServerRMQ,
    private readonly bodyLimit: number,
  ) {
    // Most of them are protected.
    this.server = server as unknown as NestServer;
    this.tooLargeReply = packetBytes(errorPacket(messageTooLarge(bodyLimit)));
  }

  /**
   * Resolves with the reply to a message, in the format of Nest's clients. Never rejects. The
   * pattern is that of the packet unless the transport knows it.
   */
  run(bytes: Buffer, createContext: ContextFactory, pattern?: string): Promise<Buffer> {
    return new Promise((resolve) => {
      this.scheduler.schedule(() =>
        resolve(
          this.runNow(bytes, createContext, pattern)
            .then(packetBytes)
            .catch((error: unknown) => packetBytes(errorPacket(error))),
        ),
      );
    });
  }

  /** Resolves when all waiting messages have started. */
  allStarted(): Promise<void> {
    return new Promise((resolve) => this.scheduler.schedule(resolve));
  }

  private async runNow(bytes: Buffer, createContext: ContextFactory, knownPattern?: string): Promise<object> {
    try {
      const { id, pattern, data } = readPacket(bytes, this.bodyLimit);
      const handler = this.server.messageHandlers.get(knownPattern ?? pattern);
      const reply = handler
        ? await this.handle(handler, data, createContext(knownPattern ?? (pattern as string)))
        : UNKNOWN_PATTERN;
      return id === undefined ? reply : { ...reply, id };
    } catch (error) {
      return errorPacket(error);
    }
  }

  private handle(handler: MessageHandler, data: unknown, context: BaseRpcContext): Promise<object> {
    const { server } = this;
    return new Promise((resolve) => {
      server.onProcessingStartHook(server.transportId, context, async () => {
        const packet = await handler(data, context)
          .then((result: unknown) => (isObservable(result) ? lastValueFrom(result) : result))
          .then(
            (response) => ({ response }),
            // MessageErrorFilter has made the error body.
            (err: unknown) => ({ err }),
          );
        server.onProcessingEndHook?.(server.transportId, context);
        resolve({ ...packet, isDisposed: true });
      });
    });
  }
}
