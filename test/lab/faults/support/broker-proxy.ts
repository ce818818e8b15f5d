import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { type Gate, newGate } from '../../../support/gate.js';

/** Stands between service and broker on a port of loopback. */
export class BrokerProxy {
  private server: Server | undefined;
  private readonly sockets = new Set<Socket>();
  private readonly silent = new WeakSet<Socket>();
  private port = 0;
  private held: Gate | undefined;
  private cut: { readonly bytes: Buffer; readonly times: number; count: number; end(): void } | undefined;

  private constructor(private readonly target: number) {}

  static async before(brokerUrl: string): Promise<BrokerProxy> {
    const proxy = new BrokerProxy(Number(new URL(brokerUrl).port));
    await proxy.restore();
    return proxy;
  }

  /** The address of the broker, through the proxy. */
  url(brokerUrl: string): string {
    return brokerUrl.replace(/:\d+$/, `:${this.port}`);
  }

  /** Connections of the service that are open. */
  get connections(): number {
    return [...this.sockets].filter(({ localPort }) => localPort === this.port).length;
  }

  /** New connections reach the broker only when the gate is open. */
  hold(): Gate {
    return (this.held = newGate());
  }

  /** Cuts every connection and refuses new ones. */
  async takeAway(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    const closed = server && once(server, 'close');
    server?.close();
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  /**
   * Cuts each connection of which a part of what the service sends holds these bytes, so many times or until the end,
   * and counts.
   */
  cutAt(bytes: Buffer, times = Infinity): { readonly count: number; end(): void } {
    const cut = { bytes, times, count: 0, end: () => (this.cut = undefined) };
    return (this.cut = cut);
  }

  /** From now on nothing passes on the connections that there are, and nobody tells. */
  silence(): void {
    for (const socket of this.sockets) this.silent.add(socket);
  }

  /** Takes connections again, on the same port. */
  async restore(): Promise<void> {
    const server = createServer((client) => void this.take(client));
    await once(server.listen(this.port, '127.0.0.1'), 'listening');
    this.port = (server.address() as AddressInfo).port;
    this.server = server;
  }

  private async take(client: Socket): Promise<void> {
    this.sockets.add(client);
    await this.held?.opened;
    this.carry(client, connect(this.target, '127.0.0.1'));
  }

  private carry(client: Socket, broker: Socket): void {
    for (const [from, to] of [
      [client, broker],
      [broker, client],
    ] as const) {
      this.sockets.add(from);
      from.on('data', (bytes: Buffer) => {
        if (from === client && this.cut && bytes.includes(this.cut.bytes)) {
          if (++this.cut.count >= this.cut.times) this.cut.end();
          from.destroy();
        } else if (!this.silent.has(from)) {
          to.write(bytes);
        }
      });
      from.on('error', () => undefined);
      from.once('close', () => {
        this.sockets.delete(from);
        // A network that is silent does not tell of a close either.
        if (!this.silent.has(from)) to.destroy();
      });
    }
  }
}
