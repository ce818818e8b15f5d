/** The order in which connections are closed: the lowest value first. New connections close no busy one. */
export enum EvictionPriority {
  rejected,
  idle,
  busy,
}

/** A member of BoundedConnections. */
export interface BoundedConnection {
  readonly evictionPriority: EvictionPriority;
  /** Bytes of memory that hold an incomplete message. */
  readonly heldBytes: number;
  closeNow(): void;
}

/** The maximum number of connections, and of the bytes that they hold together. */
export interface ConnectionLimits {
  readonly connections: number;
  readonly bytes: number;
}

/**
 * A group of connections with common limits. If a new connection is one too many, another is
 * closed: one whose message was rejected, otherwise the one that was added first. So idle clients
 * cannot keep others out.
 */
export class BoundedConnections {
  /** The connections, in the order in which they were added. */
  private readonly members = new Set<BoundedConnection>();

  constructor(private readonly limits: ConnectionLimits) {}

  /** Adds a connection, or moves a member to the end. Closes it if all others are busy. */
  add(connection: BoundedConnection): void {
    this.members.delete(connection);
    this.members.add(connection);
    if (this.members.size <= this.limits.connections) return;
    let evicted = connection;
    let lowest = EvictionPriority.busy;
    for (const other of this.members) {
      if (other.evictionPriority >= lowest || other === connection) continue;
      lowest = other.evictionPriority;
      evicted = other;
    }
    this.evict(evicted);
  }

  remove(connection: BoundedConnection): void {
    this.members.delete(connection);
  }

  /** Closes the connections that hold most while all hold too much. Call it when one holds more. */
  enforceByteLimit(): void {
    let total = 0;
    for (const { heldBytes } of this.members) total += heldBytes;
    while (total > this.limits.bytes) {
      const [first, ...others] = this.members;
      const largest = others.reduce((one, other) => (other.heldBytes > one.heldBytes ? other : one), first!);
      total -= largest.heldBytes;
      this.evict(largest);
    }
  }

  private evict(connection: BoundedConnection): void {
    this.remove(connection);
    connection.closeNow();
  }
}
