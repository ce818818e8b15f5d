import type { Values, Write, Writes } from './history.js';

const MEASURES = {
  count: () => 1,
  sum: ({ duration }: Values) => duration,
};
type Measure = keyof typeof MEASURES;

interface Log {
  readonly writes: readonly Write[];
  /** When each write was seen to be done. */
  readonly seen: number[];
  /** How many of them have begun. */
  begun: number;
}
const NO_LOG: Log = { writes: [], seen: [], begun: 0 };

/** A number that changes at moments (a Fenwick tree over their places in a sorted list). */
class Steps {
  private readonly sums: Float64Array;

  constructor(size: number) {
    this.sums = new Float64Array(size + 1);
  }

  add(from: number, amount: number): void {
    if (amount === 0) return;
    for (let index = from + 1; index < this.sums.length; index += index & -index) this.sums[index]! += amount;
  }

  at(place: number): number {
    let sum = 0;
    for (let index = place + 1; index > 0; index -= index & -index) sum += this.sums[index]!;
    return sum;
  }
}

type Bounds = Record<Measure, { readonly least: Steps; readonly most: Steps }>;

/**
 * The states that logs may have had when somebody looked: a state is the number of writes that were done. They are from
 * the last write that was seen to be done at a moment, to the last that has begun by now; now goes on. What all logs
 * come to is kept for every moment that may be asked about, so no answer costs more where there are more logs.
 */
export class States {
  private readonly logs = new Map<string, Log>();
  private readonly begins: (readonly [number, Log])[] = [];
  private readonly moments: readonly number[];
  /** Of each project, and of all. */
  private readonly bounds = new Map<string | undefined, Bounds>();
  private readonly done: Steps;
  private begun = 0;

  /** All moments that may be asked about. */
  constructor(writes: Writes, moments: readonly number[]) {
    this.moments = [...new Set(moments)].sort((one, other) => one - other);
    const steps = () => new Steps(this.moments.length);
    const pair = () => ({ least: steps(), most: steps() });
    this.done = steps();
    for (const [name, ofLog] of writes) {
      const log = { writes: ofLog, seen: ofLog.map(({ end }) => end ?? Infinity), begun: 0 };
      this.logs.set(name, log);
      for (const { begin, values } of ofLog) {
        this.begins.push([begin, log]);
        for (const filter of [values?.projectId, undefined])
          if (!this.bounds.has(filter)) this.bounds.set(filter, { count: pair(), sum: pair() });
      }
    }
    this.begins.sort(([one], [other]) => one - other);
  }

  /** From now on all writes that began before a moment have begun. */
  goOn(until: number): void {
    for (; this.begun < this.begins.length && this.begins[this.begun]![0] < until; this.begun++) {
      const [, log] = this.begins[this.begun]!;
      this.change(log, () => log.begun++);
    }
  }

  /** Notes that the write which leads to a state of a log was seen to be done. */
  see(name: string, state: number, at: number): void {
    const log = this.logs.get(name)!;
    if (at < log.seen[state - 1]!) this.change(log, () => (log.seen[state - 1] = at));
  }

  /** What a log may have been, each with its state. */
  of(name: string, since: number): { readonly state: number; readonly values: Values | undefined }[] {
    const { writes, seen, begun } = this.logs.get(name) ?? NO_LOG;
    const states = [];
    for (let state = begun; ; state--) {
      states.unshift({ state, values: writes[state - 1]?.values });
      if (state === 0 || seen[state - 1]! <= since) return states;
    }
  }

  /** How few and how many all logs may have come to. */
  boundsOf(measure: Measure, projectId: string | undefined, since: number): { least: number; most: number } {
    const of = this.bounds.get(projectId)?.[measure];
    const place = this.placeOf(since);
    return { least: of?.least.at(place) ?? 0, most: of?.most.at(place) ?? 0 };
  }

  /** How many writes had begun, and were not seen to be done at a moment. */
  writesSince(since: number): number {
    return this.begun - this.done.at(this.placeOf(since));
  }

  private change(log: Log, act: () => void): void {
    this.add(log, -1);
    act();
    this.add(log, 1);
  }

  private add({ writes, seen, begun }: Log, sign: 1 | -1): void {
    // A later write that was seen to be done tells of the earlier ones.
    const places = [0];
    for (let state = begun, at = Infinity; state > 0; state--) {
      at = Math.min(at, seen[state - 1]!);
      places[state] = this.placeOf(at);
      this.done.add(this.placeOf(seen[state - 1]!), sign);
    }
    for (const [projectId, bounds] of this.bounds)
      for (const measure of ['count', 'sum'] as const) {
        const shares = [0];
        for (const { values } of writes.slice(0, begun))
          shares.push(meets(values, projectId) ? MEASURES[measure](values) : 0);
        let [least, most] = [0, 0];
        for (const [first, place] of places.entries()) {
          const [low, high] = [Math.min(...shares.slice(first)), Math.max(...shares.slice(first))];
          bounds[measure].least.add(place, sign * (low - least));
          bounds[measure].most.add(place, sign * (high - most));
          [least, most] = [low, high];
        }
      }
  }

  /** The place of the first moment that is not before it. */
  private placeOf(moment: number): number {
    let [from, to] = [0, this.moments.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (this.moments[middle]! < moment) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}

/** Whether such a log is among those of a project, or of all. */
export function meets(values: Values | undefined, projectId: string | undefined): values is Values {
  return values !== undefined && (projectId === undefined || values.projectId === projectId);
}
