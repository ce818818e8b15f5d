import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { contradictions } from './contradictions.js';
import type { Answer, PageRequest, Write } from './history.js';

const PROJECTS = ['a', 'b'];
const LENGTH = 1_000;

/** A write that takes effect at a moment between its begin and its end. */
interface Done extends Write {
  readonly moment: number;
}
interface Log {
  readonly name: string;
  readonly writes: readonly Done[];
}

/** The logs of a moment. */
function stateAt(logs: readonly Log[], moment: number, projectId?: string) {
  return logs.flatMap(({ name, writes }) => {
    const values = writes.findLast((write) => write.moment <= moment)?.values;
    if (!values) return [];
    return [values.projectId, undefined].includes(projectId) ? [{ name, ...values }] : [];
  });
}

const values = fc.record({
  projectId: fc.constantFrom(...PROJECTS),
  duration: fc.integer({ min: 1, max: 9 }),
});
const span = fc.tuple(fc.nat(30), fc.nat(30), fc.boolean());
const log = fc
  .tuple(fc.nat(LENGTH), fc.array(fc.tuple(span, values), { minLength: 1, maxLength: 4 }), fc.boolean())
  .map(([from, changes, isDeleted]): readonly Done[] => {
    let now = from;
    const writes = changes.map(([[before, after, isTold], given], index): Done => {
      const begin = now;
      const moment = begin + 1 + before;
      now = moment + 1 + after;
      const isGone = isDeleted && index > 0 && index === changes.length - 1;
      return { begin, moment, ...(isTold && { end: now }), ...(!isGone && { values: given }) };
    });
    // Whoever is not told does not write again.
    const untold = writes.findIndex(({ end }) => end === undefined);
    return untold === -1 ? writes : writes.slice(0, untold + 1);
  });
const logs = fc
  .array(log, { minLength: 20, maxLength: 40 })
  .map((all) => all.map((writes, index): Log => ({ name: `log-${index}`, writes })));

interface Fault {
  /** How much later a total is right than its log is there. */
  readonly countLate?: number;
  /** How far the moment of a total is from that of its list. */
  readonly apart?: number;
  /** How far a standby is behind, of each look. */
  readonly behind?: readonly number[];
  /** From when to when one log is not shown. */
  readonly hidden?: boolean;
}

/** What somebody is answered who asks again and again. */
function answersOf(all: readonly Log[], { countLate = 0, apart = 0, behind, hidden = false }: Fault = {}) {
  const answers: Answer[] = [];
  for (let begin = 0, turn = 0; begin < LENGTH + 300; begin += 10, turn++) {
    const end = begin + 9;
    const moment = begin + 5 - (behind ? behind[turn % behind.length]! : 0);
    const projectId = [...PROJECTS, undefined][turn % 3];
    const items = stateAt(all, moment, projectId).filter(({ name }) => !hidden || name !== 'log-0');
    const counted = stateAt(all, moment - countLate + apart, projectId);
    const look = { begin, end, reader: 'r', ...(behind && { isBehind: true }) };
    const page: PageRequest = {
      ...look,
      kind: 'page',
      projectId,
      total: counted.length,
      items,
      isLast: true,
    };
    const sum = counted.reduce((total, { duration }) => total + duration, 0);
    answers.push(page, { ...look, kind: 'sums', projectId, count: counted.length, sum });
    const one = all[turn % all.length]!;
    const found = items.find(({ name }) => name === one.name);
    if (projectId === undefined) {
      const shown = found && { projectId: found.projectId, duration: found.duration };
      answers.push({ ...look, kind: 'one', name: one.name, values: shown });
    }
  }
  return answers;
}

const check = (all: readonly Log[], fault?: Fault) =>
  contradictions(new Map(all.map(({ name, writes }) => [name, writes])), answersOf(all, fault));

describe('contradictions', () => {
  it.each<[string, Fault | undefined]>([
    ['answers of the moment', undefined],
    ['those of a standby that is behind, and catches up', { behind: [9, 7, 5, 3] }],
  ])('finds none in %s', (_what, fault) => {
    fc.assert(
      fc.property(logs, (all) => expect(check(all, fault)).toEqual([])),
      { numRuns: 25 },
    );
  });

  // How often a fault shows depends on what is written meanwhile.
  it.each<[string, Fault]>([
    ['a count that is committed apart from its log', { countLate: 40 }],
    ['a total from another snapshot', { apart: 4 }],
    ['a reader that goes to an older standby', { behind: [0, 90] }],
    ['a log that is not shown any more', { hidden: true }],
  ])('finds %s', (_what, fault) => {
    const found = fc.sample(logs, 15).filter((all) => check(all, fault).length > 0);
    expect(found.length).toBeGreaterThan(8);
  });

  it('finds pages of one list that overlap, where nothing came between', () => {
    const writes: Write[] = [{ begin: 0, end: 1, values: { projectId: 'a', duration: 1 } }];
    const all = new Map([1, 2, 3].map((number) => [String(number), writes]));
    const item = (name: string) => ({ name, projectId: 'a', duration: 1 });
    const look = { kind: 'page', reader: 'r', total: 3 } as const;
    const first: PageRequest = { ...look, begin: 2, end: 3, items: [item('1'), item('2')], isLast: false };
    const pageOf = (...names: string[]): PageRequest => ({
      ...look,
      begin: 4,
      end: 5,
      items: names.map(item),
      before: first,
      isLast: true,
    });
    expect(contradictions(all, [first, pageOf('3')])).toEqual([]);
    expect(contradictions(all, [first, pageOf('2', '3')])).toEqual([
      'r, 4 to 5: 1 logs of the page before it, and 0 writes between',
    ]);
    const another = new Map([...all, ['4', [{ begin: 3, end: 5, values: { projectId: 'b', duration: 1 } }]]]);
    expect(contradictions(another, [first, pageOf('2', '3')])).toEqual([]);
    // A standby may show between two pages what was done before.
    const past = new Map([
      ...all,
      ['4', [{ begin: 0.5, end: 1.5, values: { projectId: 'b', duration: 1 } }]],
    ]);
    const behind = { ...first, isBehind: true };
    const after = { ...pageOf('2', '3'), isBehind: true, before: behind, isLast: false };
    expect(contradictions(past, [behind, after])).toEqual([]);
    expect(contradictions(past, [first, pageOf('2', '3')])).toContain(
      'r, 4 to 5: 1 logs of the page before it, and 0 writes between',
    );
  });
});
