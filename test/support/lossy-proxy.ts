import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** The lost part of a statement, and how the service notices: not at all if the connection falls silent. */
export type Loss =
  | { readonly lost: 'statement'; readonly by: 'close' | 'reset' }
  | { readonly lost: 'answer'; readonly by: 'close' | 'reset' | 'silence' };

/** The two connections of a client. */
interface Pair {
  readonly client: Socket;
  readonly upstream: Socket;
  isSilent: boolean;
}

/** ReadyForQuery of a server that stands outside of any transaction: what was sent is committed. */
const COMMITTED = Buffer.from('Z\0\0\0\x05I', 'latin1');

/** A proxy between service and database or broker on a port of loopback. It can lose data, or all connections. */
export class LossyProxy {
  private readonly server: Server;
  private readonly pairs = new Set<Pair>();
  private port = 0;
  private next: { readonly marker: Buffer; readonly loss: Loss; readonly done: () => void } | undefined;

  /** The path of the socket of a server, or its port of loopback. */
  constructor(public target: string | number) {
    this.server = createServer((client) => {
      const upstream =
        typeof this.target === 'number' ? connect(this.target, '127.0.0.1') : connect(this.target);
      this.carry({ client, upstream, isSilent: false });
    });
  }

  /** Begins to carry, after `close` on the same port again; the port. */
  async listen(): Promise<number> {
    await once(this.server.listen(this.port, '127.0.0.1'), 'listening');
    this.port = (this.server.address() as AddressInfo).port;
    return this.port;
  }

  /** The URL of the server, or of a database there, that leads through here, once it carries. */
  url(serverUrl: string): string {
    return serverUrl.replace(/(?<=\/\/|@)[^@/]+(?=\/|$)/, `127.0.0.1:${this.port}`);
  }

  /** Connects new clients to another server, as an address does after a failover. Existing connections stay. */
  aim(target: string | number): void {
    this.target = target;
  }

  /** Loses the next statement that holds a text, or the word that it is committed; resolves when that has happened. */
  lose(text: string, loss: Loss): Promise<void> {
    return new Promise((done) => (this.next = { marker: Buffer.from(text), loss, done }));
  }

  /** From now on nothing passes on the existing connections, also not that one of their ends is closed. */
  silence(): void {
    for (const pair of this.pairs) pair.isSilent = true;
  }

  /** Ends all connections. */
  cut(): void {
    for (const pair of this.pairs) this.drop(pair);
  }

  /** Ends all connections, and refuses new ones. */
  close(): void {
    this.server.close();
    this.cut();
  }

  private drop(pair: Pair): void {
    this.pairs.delete(pair);
    pair.client.destroy();
    pair.upstream.destroy();
  }

  private carry(pair: Pair): void {
    let lossOfAnswer: typeof this.next;
    const { client, upstream } = pair;
    this.pairs.add(pair);
    for (const socket of [client, upstream]) {
      socket.on('error', () => undefined);
      socket.once('close', () => {
        if (!pair.isSilent) this.drop(pair);
      });
    }
    client.on('data', (bytes) => {
      const { next } = this;
      if (next && bytes.includes(next.marker)) {
        this.next = undefined;
        if (next.loss.lost === 'statement') {
          end(client, next.loss.by);
          next.done();
          return;
        }
        lossOfAnswer = next;
      }
      if (!pair.isSilent) upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (!lossOfAnswer || !bytes.subarray(-COMMITTED.length).equals(COMMITTED)) {
        if (!pair.isSilent) client.write(bytes);
        return;
      }
      const { loss, done } = lossOfAnswer;
      pair.isSilent = loss.by === 'silence';
      if (loss.by !== 'silence') end(client, loss.by);
      done();
    });
  }
}

function end(socket: Socket, by: 'close' | 'reset'): void {
  if (by === 'reset') socket.resetAndDestroy();
  else socket.destroy();
}
