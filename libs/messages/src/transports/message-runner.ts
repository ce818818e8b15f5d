import type { BaseRpcContext, MessageHandler } from '@nestjs/microservices';
import { isObservable, lastValueFrom } from 'rxjs';
import { readPacket } from '../packet.js';
import { MessageScheduler } from './message-scheduler.js';
import { errorPacket, packetBytes, UNKNOWN_PATTERN } from './reply-packet.js';

/** The protected members of a Nest server that its subclass passes to the runner. */
interface NestServer {
  readonly handlers: ReadonlyMap<unknown, MessageHandler>;
  /** Calls Nest's hook before a message is handled. The hook calls `handle`. */
  begin(context: BaseRpcContext, handle: () => Promise<void>): void;
  /** Calls Nest's hook after the reply. */
  end(context: BaseRpcContext): void;
}

/** Creates Nest's context for a message with a pattern. */
type ContextFactory = (pattern: string) => BaseRpcContext;

/**
 * Runs the handlers of Nest for messages. It replaces Nest's `handleMessage`, which parses a
 * message before its size is checked, starts all messages that arrive at once, and does not report
 * when a message is answered.
 */
export class MessageRunner {
  private readonly scheduler = new MessageScheduler();

  constructor(
    private readonly server: NestServer,
    private readonly bodyLimit: number,
  ) {}

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
      const handler = this.server.handlers.get(knownPattern ?? pattern);
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
      server.begin(context, async () => {
        const packet = await handler(data, context)
          .then((result: unknown) => (isObservable(result) ? lastValueFrom(result) : result))
          .then(
            (response) => ({ response }),
            // MessageErrorFilter has made the error body.
            (err: unknown) => ({ err }),
          );
        server.end(context);
        resolve({ ...packet, isDisposed: true });
      });
    });
  }
}
