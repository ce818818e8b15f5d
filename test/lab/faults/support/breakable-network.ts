import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** From who connects, or to them. */
export type Direction = 'there' | 'back';
const BOTH: readonly Direction[] = ['there', 'back'];

/**
 * Stands between who connects to a port of loopback and a server, and may carry nothing for a while, in one direction
 * or in both: as a network that is broken. Nobody learns that a connection has ended meanwhile; where it is mended,
 * what was sent arrives.
 */
export class BreakableNetwork {
  private readonly server: Server;
  private readonly pairs = new Set<Readonly<Record<Direction, Socket>>>();
  private readonly broken = new Set<Direction>();

  /** Path of the socket of a server. */
  constructor(private target: string) {
    this.server = createServer((client) => this.carry({ there: client, back: connect(this.target) }));
  }

  /** Begins to carry; the port. */
  async listen(): Promise<number> {
    await once(this.server.listen(0, '127.0.0.1'), 'listening');
    return (this.server.address() as AddressInfo).port;
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

  /**
   * Has new connections lead to another server, as an address does after a failover. Those that there are end; or they
   * stay as they are, which is silent where it was broken.
   */
  aim(target: string, doStay = false): void {
    this.target = target;
    this.broken.clear();
    if (!doStay) for (const pair of this.pairs) this.drop(pair);
  }

  close(): void {
    this.server.close();
    for (const pair of this.pairs) for (const direction of BOTH) pair[direction].destroy();
  }

  private carry(pair: Readonly<Record<Direction, Socket>>): void {
    this.pairs.add(pair);
    for (const [direction, other] of [
      ['there', 'back'],
      ['back', 'there'],
    ] as const) {
      pair[direction].on('error', () => undefined);
      pair[direction].on('data', (bytes) => pair[other].write(bytes));
      pair[direction].once('close', () => {
        if (this.broken.size === 0) this.drop(pair);
      });
      if (this.broken.has(direction)) pair[direction].pause();
    }
  }

  private drop(pair: Readonly<Record<Direction, Socket>>): void {
    this.pairs.delete(pair);
    for (const direction of BOTH) pair[direction].destroy();
  }
}
