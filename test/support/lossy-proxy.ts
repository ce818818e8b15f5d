import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** What is lost of a statement, and how the service learns of it: not at all where the connection falls silent. */
export type Loss =
  | { readonly lost: 'statement'; readonly by: 'close' | 'reset' }
  | { readonly lost: 'answer'; readonly by: 'close' | 'reset' | 'silence' };

/** ReadyForQuery of a server that stands outside of any transaction: what was sent is committed. */
const COMMITTED = Buffer.from('Z\0\0\0\x05I', 'latin1');

/** Stands between service and database on a port of loopback, and can lose what it carries. */
export class LossyProxy {
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private next: { readonly marker: Buffer; readonly loss: Loss; readonly done: () => void } | undefined;

  /** Path of the socket of a server. */
  constructor(private target: string) {
    this.server = createServer((client) => this.carry(client, connect(this.target)));
  }

  /** Begins to carry; the port. */
  async listen(): Promise<number> {
    await once(this.server.listen(0, '127.0.0.1'), 'listening');
    return (this.server.address() as AddressInfo).port;
  }

  /** The URL of a database of the server that leads through here, once it carries. */
  url(databaseUrl: string): string {
    const { port } = this.server.address() as AddressInfo;
    return databaseUrl.replace(/@[^/]+/, `@127.0.0.1:${port}`);
  }

  /** Has new connections lead to another server, as an address does after a failover; those that there are stay. */
  aim(target: string): void {
    this.target = target;
  }

  /** Loses the next statement that holds a text, or the word that it is committed; resolves when that has happened. */
  lose(text: string, loss: Loss): Promise<void> {
    return new Promise((done) => (this.next = { marker: Buffer.from(text), loss, done }));
  }

  close(): void {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
  }

  private carry(client: Socket, upstream: Socket): void {
    let lossOfAnswer: typeof this.next;
    let isSilent = false;
    for (const socket of [client, upstream]) {
      this.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => {
        this.sockets.delete(socket);
        if (!isSilent) for (const end of [client, upstream]) end.destroy();
      });
    }
    client.on('data', (bytes) => {
      const { next } = this;
      if (next && bytes.includes(next.marker)) {
        this.next = undefined;
        if (next.loss.lost === 'statement') {
          cut(client, next.loss.by);
          next.done();
          return;
        }
        lossOfAnswer = next;
      }
      if (!isSilent) upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (!lossOfAnswer || !bytes.subarray(-COMMITTED.length).equals(COMMITTED)) {
        if (!isSilent) client.write(bytes);
        return;
      }
      const { loss, done } = lossOfAnswer;
      isSilent = loss.by === 'silence';
      if (loss.by !== 'silence') cut(client, loss.by);
      done();
    });
  }
}

function cut(socket: Socket, by: 'close' | 'reset'): void {
  if (by === 'reset') socket.resetAndDestroy();
  else socket.destroy();
}
