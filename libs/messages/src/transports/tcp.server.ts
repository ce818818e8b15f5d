import type { Socket } from 'node:net';
import { ServerTCP, type TcpContext, type TcpSocket } from '@nestjs/microservices';
import { callerOf } from '../../../auth/src/index.js';
import type { MessageTransport } from '../messages-under-way.js';
import { type Packet, readPacket } from '../packet.js';
import { packetOf, SERIALIZER, UNKNOWN_PATTERN } from './answer-packet.js';
import { BoundedConnections } from './bounded-connections.js';
import { FramedSocket, type TcpEdge, type TcpTimes } from './framed.socket.js';
import { SILENT } from './message-server.js';
import { Turns } from './turns.js';

/**
 * A process may have as few as 1,024 descriptors. A parsed message of 64 KiB may take 1.2 MB of memory. With 400
 * connections that have shown no token, one on a slow network can send its first message while 2,000 others a second
 * connect.
 */
const STRANGERS = { connections: 400, bytes: 16 * 1_048_576 };
const KNOWN = { connections: 500, bytes: 64 * 1_048_576 };
export const TCP_TIMES: TcpTimes = { message: 10_000, rest: 5 * 60_000 };

/** Messages from clients of our own port. */
export class TcpServer extends ServerTCP implements MessageTransport {
  protected override readonly logger = SILENT as never;
  private readonly edge: TcpEdge;

  constructor(
    { hostname, port }: URL,
    private readonly bodyLimit: number,
    times: TcpTimes,
  ) {
    super({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port), serializer: SERIALIZER });
    this.edge = {
      strangers: new BoundedConnections(STRANGERS),
      known: new BoundedConnections(KNOWN),
      turns: new Turns(),
      times,
    };
    this.setOnProcessingEndHook(() => undefined);
  }

  /** Connections that are open stay so: what comes there is refused, so that its sender knows. */
  async stopTaking(): Promise<void> {
    this.unwrap<{ close(): void }>().close();
  }

  protected override getSocketInstance(socket: Socket): TcpSocket {
    return new FramedSocket(socket, this.edge);
  }

  /** Nest calls this for each message that it has begun, when its answer is made. */
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
      socket.sendMessage(packetOf(error));
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
    // It resolves when the guards have decided.
    await super.handleMessage(socket, packet);
    if (typeof data === 'object' && data !== null && callerOf(data)) socket.trust();
  }
}
