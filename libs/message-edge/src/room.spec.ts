import { describe, expect, it } from '@jest/globals';
import { Claim, type Occupant, Room } from './room.js';

/** A connection that leaves when it is cut, as sockets do. */
class Visitor implements Occupant {
  isCut = false;
  claim = Claim.isSilent;
  held = 0;

  constructor(private readonly room: Room) {
    room.enter(this);
  }

  cut(): void {
    this.isCut = true;
    this.room.leave(this);
  }
}

/** Which of some visitors were cut. */
const cutOf = (visitors: readonly Visitor[]) => visitors.map(({ isCut }) => isCut);

describe('Room', () => {
  const fill = (connections = 3, bytes = 100) => {
    const room = new Room({ connections, bytes });
    return { room, visitors: Array.from({ length: 3 }, () => new Visitor(room)) };
  };

  it('lets a newcomer in for the one that came first', () => {
    const { room, visitors } = fill();
    new Visitor(room);
    expect(cutOf(visitors)).toEqual([true, false, false]);
    new Visitor(room);
    expect(cutOf(visitors)).toEqual([true, true, false]);
  });

  it('cuts nobody who waits for us, and first of all who was refused', () => {
    const { room, visitors } = fill();
    const [first, second, third] = visitors as [Visitor, Visitor, Visitor];
    third.claim = Claim.wasRefused;
    new Visitor(room);
    expect(cutOf(visitors)).toEqual([false, false, true]);
    first.claim = Claim.waitsForUs;
    new Visitor(room);
    expect(cutOf(visitors)).toEqual([false, true, true]);
    expect(second.isCut).toBe(true);
  });

  it('does not let in a newcomer where all others wait for us', () => {
    const { room, visitors } = fill();
    for (const visitor of visitors) visitor.claim = Claim.waitsForUs;
    expect(new Visitor(room).isCut).toBe(true);
    expect(cutOf(visitors)).toEqual([false, false, false]);
  });

  it('puts who enters again behind all others, and cuts nobody for that', () => {
    const { room, visitors } = fill();
    room.enter(visitors[0]!);
    expect(cutOf(visitors)).toEqual([false, false, false]);
    new Visitor(room);
    expect(cutOf(visitors)).toEqual([false, true, false]);
  });

  it('has a place free when somebody leaves', () => {
    const { room, visitors } = fill();
    room.leave(visitors[1]!);
    new Visitor(room);
    expect(cutOf(visitors)).toEqual([false, false, false]);
  });

  it('cuts those that hold most, until the others hold no more than they may', () => {
    const { room, visitors } = fill();
    const [small, large, larger] = visitors as [Visitor, Visitor, Visitor];
    [small.held, large.held, larger.held] = [10, 40, 50];
    room.measure();
    expect(cutOf(visitors)).toEqual([false, false, false]);
    large.held = 41;
    room.measure();
    expect(cutOf(visitors)).toEqual([false, false, true]);
    [small.held, large.held] = [100, 101];
    room.measure();
    expect(cutOf(visitors)).toEqual([false, true, true]);
  });
});
