import { describe, expect, it } from '@jest/globals';
import { type BoundedConnection, BoundedConnections, EvictionPriority } from './bounded-connections.js';

/** A connection that leaves the group when it is closed, as sockets do. */
class FakeConnection implements BoundedConnection {
  isClosed = false;
  evictionPriority = EvictionPriority.idle;
  heldBytes = 0;

  constructor(private readonly group: BoundedConnections) {
    group.add(this);
  }

  closeNow(): void {
    this.isClosed = true;
    this.group.remove(this);
  }
}

const closed = (connections: readonly FakeConnection[]) => connections.map(({ isClosed }) => isClosed);

describe('BoundedConnections', () => {
  const fill = () => {
    const group = new BoundedConnections({ connections: 3, bytes: 100 });
    return { group, connections: Array.from({ length: 3 }, () => new FakeConnection(group)) };
  };

  it('closes the connection that was added first for a new one, and none after one was removed', () => {
    const { group, connections } = fill();
    // It moves to the end.
    group.add(connections[0]!);
    new FakeConnection(group);
    expect(closed(connections)).toEqual([false, true, false]);
    group.remove(connections[2]!);
    new FakeConnection(group);
    expect(closed(connections)).toEqual([false, true, false]);
  });

  it('closes a rejected connection first, and a new one if all others are busy', () => {
    const { group, connections } = fill();
    connections[2]!.evictionPriority = EvictionPriority.rejected;
    const fourth = new FakeConnection(group);
    expect(closed(connections)).toEqual([false, false, true]);
    for (const connection of [...connections, fourth]) connection.evictionPriority = EvictionPriority.busy;
    expect(new FakeConnection(group).isClosed).toBe(true);
    expect(closed([...connections, fourth])).toEqual([false, false, true, false]);
  });

  it('closes the connections that hold most, until the others are within the limit', () => {
    const { group, connections } = fill();
    const [small, large, larger] = connections as [FakeConnection, FakeConnection, FakeConnection];
    [small.heldBytes, large.heldBytes, larger.heldBytes] = [10, 40, 50];
    group.enforceByteLimit();
    expect(closed(connections)).toEqual([false, false, false]);
    large.heldBytes = 41;
    group.enforceByteLimit();
    expect(closed(connections)).toEqual([false, false, true]);
    [small.heldBytes, large.heldBytes] = [100, 101];
    group.enforceByteLimit();
    expect(closed(connections)).toEqual([false, true, true]);
  });
});
