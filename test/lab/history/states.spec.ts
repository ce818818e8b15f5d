import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Values, Write, Writes } from './history.js';
import { meets, States } from './states.js';

const values = fc.record({
  projectId: fc.constantFrom('a', 'b'),
  duration: fc.integer({ min: 1, max: 9 }),
});
/** Writes one after the other; some are deletions, and of the last nobody may have been told. */
const writes = fc
  .array(fc.tuple(fc.nat(9), fc.nat(9), fc.option(values, { nil: undefined })), { maxLength: 4 })
  .chain((all) => fc.tuple(fc.constant(all), fc.nat(20), fc.boolean()))
  .map(([all, from, isTold]) => {
    let now = from;
    return all.map(([before, takes, given], index): Write => {
      const begin = now + before;
      now = begin + takes;
      return {
        begin,
        ...((isTold || index < all.length - 1) && { end: now }),
        ...(given && { values: given }),
      };
    });
  });
const history = fc
  .array(writes, { maxLength: 8 })
  .map((all): Writes => new Map(all.map((of, index) => [`log-${index}`, of])));
/** Each asks from a moment on, up to its own, and is then shown some log in its last state. */
const questions = fc
  .array(fc.record({ now: fc.nat(80), ago: fc.nat(40), shown: fc.nat(7) }), { maxLength: 20 })
  .map((all) => all.toSorted((one, other) => one.now - other.now));

describe('the states that logs may have had', () => {
  it('come to the least and the most that each log may have been', () => {
    fc.assert(
      fc.property(history, questions, (all, asked) => {
        const states = new States(
          all,
          asked.map(({ now, ago }) => now - ago),
        );
        const seen = new Map([...all.values()].flat().map((write) => [write, write.end ?? Infinity]));
        for (const { now, ago, shown } of asked) {
          const since = now - ago;
          states.goOn(now);
          const begun = (of: readonly Write[]) => of.filter(({ begin }) => begin < now);
          /** What a log may have been, by definition. */
          const may = (of: readonly Write[]): (Values | undefined)[] => {
            const first = begun(of).findLastIndex((write) => seen.get(write)! <= since);
            return [undefined, ...begun(of).map((write) => write.values)].slice(first + 1);
          };
          for (const [name, of] of all)
            expect(states.of(name, since).map((state) => state.values)).toEqual(may(of));
          for (const projectId of ['a', undefined])
            for (const [measure, share] of [
              ['count', () => 1],
              ['sum', ({ duration }: Values) => duration],
            ] as const) {
              const sumOf = (which: (...shares: number[]) => number) =>
                [...all.values()]
                  .map((of) => which(...may(of).map((had) => (meets(had, projectId) ? share(had) : 0))))
                  .reduce((one, other) => one + other, 0);
              const bounds = { least: sumOf(Math.min), most: sumOf(Math.max) };
              expect(states.boundsOf(measure, projectId, since)).toEqual(bounds);
            }
          const open = begun([...all.values()].flat()).filter((write) => seen.get(write)! > since);
          expect(states.writesSince(since)).toBe(open.length);

          const name = `log-${shown}`;
          const last = begun(all.get(name) ?? []).at(-1);
          if (!last) continue;
          states.see(name, begun(all.get(name)!).length, now);
          seen.set(last, Math.min(seen.get(last)!, now));
        }
      }),
    );
  });
});
