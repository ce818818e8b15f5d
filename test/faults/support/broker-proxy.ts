import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** Stands between service and broker on a port of loopback. */
export class BrokerProxy {
  private server: Server | undefined;
  private readonly sockets = new Set<Socket>();
  private readonly silent = new WeakSet<Socket>();
  private port = 0;

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

  /** Cuts every connection and refuses new ones. */
  async takeAway(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    const closed = server && once(server, 'close');
    server?.close();
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  /** From now on nothing passes on the connections that there are, and nobody tells. */
  silence(): void {
    for (const socket of this.sockets) this.silent.add(socket);
  }

  /** Takes connections again, on the same port. */
  async restore(): Promise<void> {
    const server = createServer((client) => this.carry(client, connect(this.target, '127.0.0.1')));
    await once(server.listen(this.port, '127.0.0.1'), 'listening');
    this.port = (server.address() as AddressInfo).port;
    this.server = server;
  }

  private carry(client: Socket, broker: Socket): void {
    for (const [from, to] of [
      [client, broker],
      [broker, client],
    ] as const) {
      this.sockets.add(from);
      from.on('data', (bytes) => this.silent.has(from) || to.write(bytes));
      from.on('error', () => undefined);
      from.once('close', () => {
        this.sockets.delete(from);
        // A network that is silent does not tell of a close either.
        if (!this.silent.has(from)) to.destroy();
      });
    }
  }
}
