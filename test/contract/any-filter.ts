import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { type TimeLogAccess, Period, type TimeLogFilter } from '../../src/time-log/index.js';

const DAY = 86_400_000;
const FIRST = Date.parse('0001-01-01');

/** The day of a number: 0 is the first that there is. */
export function dayOf(number: number): string {
  return new Date(FIRST + number * DAY).toISOString().slice(0, 10);
}

export function numberOf(day: string): number {
  return (Date.parse(day) - FIRST) / DAY;
}

/** The number of the last day that there is. */
export const LAST = numberOf('9999-12-31');

/** Generates filters by all or some projects, and by a period between two days, also open at one end or both. */
export function anyFilterOf(
  projects: readonly string[],
  anyDay: fc.Arbitrary<string>,
): fc.Arbitrary<TimeLogFilter> {
  return fc
    .record({
      projectIds: fc.option(fc.shuffledSubarray([...projects], { minLength: 1 }), { nil: undefined }),
      ends: fc.array(anyDay, { maxLength: 2 }),
      isOpenAtStart: fc.boolean(),
    })
    .map(({ projectIds, ends, isOpenAtStart }) => {
      const [from, to] = ends.sort();
      return {
        projectIds,
        period: isOpenAtStart && to === undefined ? Period.of(undefined, from) : Period.of(from, to),
      };
    });
}

/** All projects, or none, one, or some of them, also such without logs. */
export function anyAccessTo(projects: readonly string[]): fc.Arbitrary<TimeLogAccess> {
  const some = fc.subarray([...projects, randomUUID()]);
  return fc.record({ projects: fc.option(some, { nil: undefined }) });
}
