import { describe, expect, it } from '@jest/globals';
import { type BoundedConnection, BoundedConnections, Claim } from './bounded-connections.js';

/** A connection that leaves when it is cut, as sockets do. */
class Visitor implements BoundedConnection {
  isCut = false;
  claim = Claim.isSilent;
  held = 0;

  constructor(private readonly group: BoundedConnections) {
    group.enter(this);
  }

  cut(): void {
    this.isCut = true;
    this.group.leave(this);
  }
}

/** Which of some visitors were cut. */
const cutOf = (visitors: readonly Visitor[]) => visitors.map(({ isCut }) => isCut);

describe('BoundedConnections', () => {
  const fill = (connections = 3, bytes = 100) => {
    const group = new BoundedConnections({ connections, bytes });
    return { group, visitors: Array.from({ length: 3 }, () => new Visitor(group)) };
  };

  it('lets a newcomer in for the one that came first', () => {
    const { group, visitors } = fill();
    new Visitor(group);
    expect(cutOf(visitors)).toEqual([true, false, false]);
    new Visitor(group);
    expect(cutOf(visitors)).toEqual([true, true, false]);
  });

  it('cuts nobody who waits for us, and first of all who was refused', () => {
    const { group, visitors } = fill();
    const [first, second, third] = visitors as [Visitor, Visitor, Visitor];
    third.claim = Claim.wasRefused;
    new Visitor(group);
    expect(cutOf(visitors)).toEqual([false, false, true]);
    first.claim = Claim.waitsForUs;
    new Visitor(group);
    expect(cutOf(visitors)).toEqual([false, true, true]);
    expect(second.isCut).toBe(true);
  });

  it('does not let in a newcomer where all others wait for us', () => {
    const { group, visitors } = fill();
    for (const visitor of visitors) visitor.claim = Claim.waitsForUs;
    expect(new Visitor(group).isCut).toBe(true);
    expect(cutOf(visitors)).toEqual([false, false, false]);
  });

  it('puts who enters again behind all others, and cuts nobody for that', () => {
    const { group, visitors } = fill();
    group.enter(visitors[0]!);
    expect(cutOf(visitors)).toEqual([false, false, false]);
    new Visitor(group);
    expect(cutOf(visitors)).toEqual([false, true, false]);
  });

  it('has a place free when somebody leaves', () => {
    const { group, visitors } = fill();
    group.leave(visitors[1]!);
    new Visitor(group);
    expect(cutOf(visitors)).toEqual([false, false, false]);
  });

  it('cuts those that hold most, until the others hold no more than they may', () => {
    const { group, visitors } = fill();
    const [small, large, larger] = visitors as [Visitor, Visitor, Visitor];
    [small.held, large.held, larger.held] = [10, 40, 50];
    group.measure();
    expect(cutOf(visitors)).toEqual([false, false, false]);
    large.held = 41;
    group.measure();
    expect(cutOf(visitors)).toEqual([false, false, true]);
    [small.held, large.held] = [100, 101];
    group.measure();
    expect(cutOf(visitors)).toEqual([false, true, true]);
  });
});
