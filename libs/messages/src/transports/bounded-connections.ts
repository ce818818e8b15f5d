/** Who is cut where there are too many: the lowest first. Who waits for us stays. */
export enum Claim {
  wasRefused,
  isSilent,
  waitsForUs,
}

/** What such a connection tells of itself. */
export interface BoundedConnection {
  readonly claim: Claim;
  /** Bytes of memory that wait for the rest of a message. */
  readonly held: number;
  cut(): void;
}

/** The most that they may be and hold together. */
export interface ConnectionLimits {
  readonly connections: number;
  readonly bytes: number;
}

/**
 * Connections with limits in common. Where one more is too much, another is cut: one that was refused before, or else
 * the one that came first. So nobody keeps others out by being there.
 */
export class BoundedConnections {
  /** Who came first is first. */
  private readonly inside = new Set<BoundedConnection>();

  constructor(private readonly limits: ConnectionLimits) {}

  /** Lets a connection in, or puts one that is in behind all others. Where all others wait for us, it is cut itself. */
  enter(connection: BoundedConnection): void {
    this.inside.delete(connection);
    this.inside.add(connection);
    if (this.inside.size <= this.limits.connections) return;
    let leaving = connection;
    let least = Claim.waitsForUs;
    for (const other of this.inside) {
      if (other.claim >= least || other === connection) continue;
      least = other.claim;
      leaving = other;
    }
    this.cut(leaving);
  }

  leave(connection: BoundedConnection): void {
    this.inside.delete(connection);
  }

  /** Call it when a connection holds more than before. Those that hold most are cut if need be: no small clients. */
  measure(): void {
    let total = 0;
    for (const { held } of this.inside) total += held;
    while (total > this.limits.bytes) {
      const [first, ...others] = this.inside;
      const most = others.reduce((largest, other) => (other.held > largest.held ? other : largest), first!);
      total -= most.held;
      this.cut(most);
    }
  }

  private cut(connection: BoundedConnection): void {
    this.leave(connection);
    connection.cut();
  }
}
