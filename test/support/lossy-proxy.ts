import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** The lost part of a statement, and how the service notices: not at all if the connection falls silent. */
export type Loss =
  | { readonly lost: 'statement'; readonly by: 'close' | 'reset' }
  | { readonly lost: 'answer'; readonly by: 'close' | 'reset' | 'silence' };

/** From the client, or to it. */
type Direction = 'there' | 'back';
const BOTH: readonly Direction[] = ['there', 'back'];
/** The sockets from which data of each direction come. */
type Pair = Readonly<Record<Direction, Socket>>;

/** ReadyForQuery of a server that stands outside of any transaction: what was sent is committed. */
const COMMITTED = Buffer.from('Z\0\0\0\x05I', 'latin1');

/**
 * A proxy between service and database on a port of loopback. It can lose data, or hold it as a broken network does:
 * connections do not learn that the other end has closed, and what was sent arrives when the network is mended.
 */
export class LossyProxy {
  private readonly server: Server;
  private readonly pairs = new Set<Pair>();
  private readonly broken = new Set<Direction>();
  private next: { readonly marker: Buffer; readonly loss: Loss; readonly done: () => void } | undefined;

  /** Path of the socket of a server. */
  constructor(public target: string) {
    this.server = createServer((client) => this.carry({ there: client, back: connect(this.target) }));
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

  /** Connects new clients to another server, as an address does after a failover. Existing connections stay. */
  aim(target: string): void {
    this.target = target;
    this.broken.clear();
  }

  /** Loses the next statement that holds a text, or the word that it is committed; resolves when that has happened. */
  lose(text: string, loss: Loss): Promise<void> {
    return new Promise((done) => (this.next = { marker: Buffer.from(text), loss, done }));
  }

  break(directions: readonly Direction[] = BOTH): void {
    for (const direction of directions) {
      this.broken.add(direction);
      for (const pair of this.pairs) pair[direction].pause();
    }
  }

  mend(): void {
    this.broken.clear();
    for (const pair of this.pairs) {
      if (BOTH.some((direction) => pair[direction].destroyed)) this.drop(pair);
      for (const direction of BOTH) pair[direction].resume();
    }
  }

  /** Ends all connections. */
  cut(): void {
    for (const pair of this.pairs) this.drop(pair);
  }

  close(): void {
    this.server.close();
    this.cut();
  }

  private drop(pair: Pair): void {
    this.pairs.delete(pair);
    for (const direction of BOTH) pair[direction].destroy();
  }

  private carry(pair: Pair): void {
    let lossOfAnswer: typeof this.next;
    let isSilent = false;
    const { there: client, back: upstream } = pair;
    this.pairs.add(pair);
    for (const direction of BOTH) {
      const socket = pair[direction];
      socket.on('error', () => undefined);
      socket.once('close', () => {
        if (!isSilent && this.broken.size === 0) this.drop(pair);
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
      if (!isSilent) upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (!lossOfAnswer || !bytes.subarray(-COMMITTED.length).equals(COMMITTED)) {
        if (!isSilent) client.write(bytes);
        return;
      }
      const { loss, done } = lossOfAnswer;
      isSilent = loss.by === 'silence';
      if (loss.by !== 'silence') end(client, loss.by);
      done();
    });
    for (const direction of this.broken) pair[direction].pause();
  }
}

function end(socket: Socket, by: 'close' | 'reset'): void {
  if (by === 'reset') socket.resetAndDestroy();
  else socket.destroy();
}
