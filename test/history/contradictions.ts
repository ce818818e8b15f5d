/*
 * What clients were answered, held against each other (a checker of histories, as Jepsen's and Elle are, for what this
 * service promises). Times are milliseconds of one clock. Whoever writes a log does so one write after the other.
 */

/** What a log is. Durations are whole numbers, so their sums are exact. */
export interface Values {
  readonly projectId: string;
  readonly duration: number;
}

/** A create, a correction (both with values) or a deletion. Without an `end` nobody was told that it was done. */
export interface Write {
  readonly begin: number;
  end?: number;
  readonly values?: Values;
}

/** A log by its name, which no write changes: all its writes, in order. The first is its create. */
export type Writes = ReadonlyMap<string, readonly Write[]>;

interface Look {
  readonly begin: number;
  readonly end: number;
  /** Who asks for one answer after the other: its answers never go back, wherever they come from. */
  readonly reader: string;
  /** From a standby: it may be behind, and shows a state that the primary had. */
  readonly isBehind?: boolean;
}
interface Shown extends Values {
  readonly name: string;
}
/** A page of a list; of one project, or of all. */
export interface Page extends Look {
  readonly kind: 'page';
  readonly projectId?: string | undefined;
  readonly total: number;
  readonly items: readonly Shown[];
  /** The page before it in the same list. */
  readonly before?: Page | undefined;
  readonly isLast: boolean;
}
/** Count and sum; of one project, or of all. */
interface Sums extends Look {
  readonly kind: 'sums';
  readonly projectId?: string | undefined;
  readonly count: number;
  readonly sum: number;
}
/** One log, which was there or not. */
interface One extends Look {
  readonly kind: 'one';
  readonly name: string;
  readonly values: Values | undefined;
}
export type Answer = Page | Sums | One;

/** States that a log may have had when somebody looked: the number of writes of it that had been done. */
interface States {
  readonly first: number;
  readonly last: number;
}

/** One line for each answer that no order of the writes explains. */
export function contradictions(writes: Writes, answers: readonly Answer[]): string[] {
  return new Checker(writes).check(answers);
}

class Checker {
  private readonly found: string[] = [];
  /** When a write was seen to be done, by its author or by somebody whom the primary had shown it. */
  private readonly seen = new Map<Write, number>();
  /** Of each reader of a standby: the begin of the latest write that it was shown. */
  private readonly reached = new Map<string, number>();

  constructor(private readonly writes: Writes) {
    for (const write of [...writes.values()].flat())
      if (write.end !== undefined) this.seen.set(write, write.end);
  }

  check(answers: readonly Answer[]): string[] {
    // What was shown counts for those who asked after it.
    for (const answer of answers.toSorted((one, other) => one.end - other.end)) {
      if (answer.kind === 'page') this.checkPage(answer);
      else if (answer.kind === 'sums') this.checkSums(answer);
      else this.checkShown(answer, [[answer.name, answer.values]]);
    }
    return this.found;
  }

  private checkPage(page: Page): void {
    const { items, before, total } = page;
    this.checkShown(
      page,
      items.map(({ name, ...values }) => [name, values]),
    );
    this.checkBounds(page, 'total', total, () => 1);
    const names = new Set(items.map(({ name }) => name));
    if (names.size < items.length) this.say(page, 'a log twice');
    if (!before && page.isLast) {
      if (items.length !== total) this.say(page, `${items.length} logs, and a total of ${total}`);
      this.checkAbsent(page, names);
    }
    const twice = before ? before.items.filter(({ name }) => names.has(name)).length : 0;
    const between = before ? this.writesBetween(before.begin, page.end) : 0;
    if (twice > between) this.say(page, `${twice} logs of the page before it, and ${between} writes between`);
  }

  /** Whoever gets all logs of a filter gets each that must be there. */
  private checkAbsent(page: Page, names: ReadonlySet<string>): void {
    for (const [name, writes] of this.writes) {
      if (names.has(name)) continue;
      const { first, last } = this.statesAt(writes, page);
      let isThere = true;
      for (let state = first; state <= last; state++) isThere &&= this.meets(page, writes[state - 1]?.values);
      if (isThere) this.say(page, `no ${name}, which must be there`);
    }
  }

  private checkSums(sums: Sums): void {
    this.checkBounds(sums, 'count', sums.count, () => 1);
    this.checkBounds(sums, 'sum', sums.sum, ({ duration }) => duration);
  }

  /** A log is shown in a state that it may have had; from now on the primary shows none that came before. */
  private checkShown(look: Look, logs: readonly (readonly [string, Values | undefined])[]): void {
    const shown: Write[] = [];
    for (const [name, values] of logs) {
      const writes = this.writes.get(name) ?? [];
      const { first, last } = this.statesAt(writes, look);
      const fits: number[] = [];
      for (let state = first; state <= last; state++)
        if (isSame(writes[state - 1]?.values, values)) fits.push(state);
      if (fits.length === 0) {
        const what = values ? JSON.stringify(values) : 'nothing';
        this.say(look, `${what} of ${name}, which it was not at that time`);
      } else if (fits[0]! > 0) shown.push(writes[fits[0]! - 1]!);
    }
    if (look.isBehind) {
      const latest = Math.max(...shown.map(({ begin }) => begin), this.reached.get(look.reader) ?? -Infinity);
      this.reached.set(look.reader, latest);
      // It shows a state that the primary had: with the latest of these writes all that were done before that began.
      for (const [name, values] of logs) {
        const writes = this.writes.get(name) ?? [];
        if (!this.isPossible(writes, look, values))
          this.say(look, `${name} as it was before what else is shown`);
      }
      return;
    }
    for (const write of shown) this.seen.set(write, Math.min(this.seen.get(write) ?? Infinity, look.end));
  }

  private isPossible(writes: readonly Write[], look: Look, values: Values | undefined): boolean {
    const { first, last } = this.statesAt(writes, look);
    for (let state = first; state <= last; state++)
      if (isSame(writes[state - 1]?.values, values)) return true;
    return false;
  }

  private checkBounds(
    look: Page | Sums,
    what: string,
    told: number,
    weight: (values: Values) => number,
  ): void {
    let [least, most] = [0, 0];
    for (const writes of this.writes.values()) {
      const { first, last } = this.statesAt(writes, look);
      let [low, high] = [Infinity, 0];
      for (let state = first; state <= last; state++) {
        const values = writes[state - 1]?.values;
        const share = this.meets(look, values) ? weight(values!) : 0;
        [low, high] = [Math.min(low, share), Math.max(high, share)];
      }
      least += low;
      most += high;
    }
    if (told < least || told > most) this.say(look, `a ${what} of ${told}, where ${least} to ${most} can be`);
  }

  private meets({ projectId }: Page | Sums, values: Values | undefined): boolean {
    return values !== undefined && (projectId === undefined || values.projectId === projectId);
  }

  /** From the last write that was seen to be done before somebody asked, to the last that had begun when they knew. */
  private statesAt(writes: readonly Write[], { begin, end, reader, isBehind }: Look): States {
    const since = isBehind ? (this.reached.get(reader) ?? -Infinity) : begin;
    return {
      first: writes.findLastIndex((write) => (this.seen.get(write) ?? Infinity) <= since) + 1,
      last: writes.findLastIndex((write) => write.begin < end) + 1,
    };
  }

  private writesBetween(begin: number, end: number): number {
    return [...this.writes.values()]
      .flat()
      .filter((write) => write.begin < end && (this.seen.get(write) ?? Infinity) > begin).length;
  }

  private say({ reader, begin, end }: Look, what: string): void {
    this.found.push(`${reader}, ${Math.round(begin)} to ${Math.round(end)}: ${what}`);
  }
}

function isSame(one: Values | undefined, other: Values | undefined): boolean {
  return one?.projectId === other?.projectId && one?.duration === other?.duration;
}
