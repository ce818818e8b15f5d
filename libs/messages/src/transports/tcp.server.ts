import type { Socket } from 'node:net';
import { ServerTCP, type TcpContext, type TcpSocket } from '@nestjs/microservices';
import { callerOf } from '../../../auth/src/index.js';
import type { MessageTransport } from '../in-flight-messages.js';
import { type Packet, readPacket } from '../packet.js';
import { BoundedConnections } from './bounded-connections.js';
import { FramedSocket, type TcpServerState, type TcpTimeouts } from './framed.socket.js';
import { MessageScheduler } from './message-scheduler.js';
import { SILENT_LOGGER } from './message-server.js';
import { errorPacket, REPLY_SERIALIZER, UNKNOWN_PATTERN } from './reply-packet.js';

/**
 * A process may have only 1,024 descriptors. A parsed message of 64 KiB may take 1.2 MB of memory.
 * With 400 connections without a token, a client on a slow network can send its first message while
 * 2,000 others connect per second.
 */
const ANONYMOUS_LIMITS = { connections: 400, bytes: 16 * 1_048_576 };
const AUTHENTICATED_LIMITS = { connections: 500, bytes: 64 * 1_048_576 };
export const TCP_TIMEOUTS: TcpTimeouts = { message: 10_000, idle: 5 * 60_000 };

/** Receives messages from TCP clients. */
export class TcpServer extends ServerTCP implements MessageTransport {
  protected override readonly logger = SILENT_LOGGER as never;
  private readonly shared: TcpServerState;

  constructor(
    { hostname, port }: URL,
    private readonly bodyLimit: number,
    timeouts: TcpTimeouts,
  ) {
    super({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port), serializer: REPLY_SERIALIZER });
    this.shared = {
      anonymous: new BoundedConnections(ANONYMOUS_LIMITS),
      authenticated: new BoundedConnections(AUTHENTICATED_LIMITS),
      scheduler: new MessageScheduler(),
      timeouts,
    };
    this.setOnProcessingEndHook(() => undefined);
    // A client may close its side after its messages, and still reads the replies.
    Object.assign(this.unwrap<object>(), { allowHalfOpen: true });
  }

  /** Keeps open connections: their messages are refused, so that the senders know. */
  async stopReceiving(): Promise<void> {
    this.unwrap<{ close(): void }>().close();
  }

  protected override getSocketInstance(socket: Socket): TcpSocket {
    return new FramedSocket(socket, this.shared);
  }

  /** Also counts the messages of a connection: Nest calls the hook when a reply is made. */
  override setOnProcessingEndHook(hook: (transport: symbol | number, context: unknown) => void): void {
    super.setOnProcessingEndHook((transport, context) => {
      hook(transport, context);
      ((context as TcpContext).getSocketRef() as FramedSocket).finish();
    });
  }

  override handleMessage(socket: TcpSocket, bytes: unknown): Promise<void> {
    try {
      return this.handle(socket as FramedSocket, readPacket(bytes as Buffer, this.bodyLimit));
    } catch (error) {
      socket.sendMessage(errorPacket(error));
      return Promise.resolve();
    }
  }

  private async handle(socket: FramedSocket, packet: Packet): Promise<void> {
    const { id, pattern, data } = packet;
    if (typeof pattern !== 'string' || !this.getHandlers().has(pattern)) {
      socket.sendMessage({ ...UNKNOWN_PATTERN, id });
      return;
    }
    socket.begin();
    // It resolves after the guards.
    await super.handleMessage(socket, packet);
    if (typeof data === 'object' && data !== null && callerOf(data)) socket.authenticate();
  }
}
