import type { BaseRpcContext, ServerNats, ServerRMQ } from '@nestjs/microservices';
import type { Observable } from 'rxjs';
import { messageTooLarge } from '../../../strict-request/src/index.js';
import { readPacket } from '../packet.js';
import { MessageScheduler } from './message-scheduler.js';
import { errorPacket, packetBytes, UNKNOWN_PATTERN } from './reply-packet.js';

/** Calls `handleRequest` of a Nest server, which is protected. */
type HandleRequest = (
  context: BaseRpcContext,
  produce: () => Promise<Observable<unknown>>,
  respond: (packet: object) => void,
) => void;

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

  constructor(
    private readonly server: ServerNats | ServerRMQ,
    private readonly handleRequest: HandleRequest,
    private readonly bodyLimit: number,
  ) {
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
    const { id, pattern, data } = readPacket(bytes, this.bodyLimit);
    const name = knownPattern ?? (pattern as string);
    const handler = this.server.getHandlers().get(name);
    if (!handler) return { ...UNKNOWN_PATTERN, id };
    const context = createContext(name);
    const reply = await new Promise<object>((resolve) =>
      this.handleRequest(
        context,
        async () => this.server.transformToObservable(handler(data, context)),
        resolve,
      ),
    );
    return { ...reply, id };
  }
}
