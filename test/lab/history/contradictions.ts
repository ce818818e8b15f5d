import type { Answer, Look, PageRequest, Sums, Values, Writes } from './history.js';
import { meets, States } from './states.js';

/**
 * One line for each answer that no order of the writes explains (a checker of histories, as Jepsen's and Elle are, for
 * what this service promises).
 */
export function contradictions(writes: Writes, answers: readonly Answer[]): string[] {
  return new Checker(writes).check(answers);
}

class Checker {
  private readonly found: string[] = [];
  private readonly states: States;
  /** Of each reader of a standby: the begin of the latest write that it was shown. */
  private readonly reached = new Map<string, number>();
  /** Of each page: the moment before which all that was seen to be done is in it. */
  private readonly sinceOf = new Map<PageRequest, number>();

  constructor(private readonly writes: Writes) {
    this.states = new States(writes);
  }

  check(answers: readonly Answer[]): string[] {
    // What was shown counts for those who asked after it.
    for (const answer of answers.toSorted((one, other) => one.end - other.end)) {
      this.states.goOn(answer.end);
      if (answer.kind === 'page') this.checkPage(answer);
      else if (answer.kind === 'sums') this.checkSums(answer);
      else this.checkShown(answer, [[answer.name, answer.values]]);
    }
    return this.found;
  }

  private checkPage(page: PageRequest): void {
    const { items, before, total } = page;
    this.checkShown(
      page,
      items.map(({ name, ...values }) => [name, values]),
    );
    this.checkBounds(page, 'total', 'count', total);
    const names = new Set(items.map(({ name }) => name));
    if (names.size < items.length) this.say(page, 'a log twice');
    if (!before && page.isLast) {
      if (items.length !== total) this.say(page, `${items.length} logs, and a total of ${total}`);
      this.checkAbsent(page, names);
    }
    this.sinceOf.set(page, this.since(page));
    const twice = before ? before.items.filter(({ name }) => names.has(name)).length : 0;
    const between = before ? this.states.writesSince(this.sinceOf.get(before)!) : 0;
    if (twice > between) this.say(page, `${twice} logs of the page before it, and ${between} writes between`);
  }

  /** Whoever gets all logs of a filter gets each that must be there. */
  private checkAbsent(page: PageRequest, names: ReadonlySet<string>): void {
    const isCertain = (name: string) =>
      this.states.of(name, this.since(page)).every(({ values }) => meets(values, page.projectId));
    for (const name of this.writes.keys())
      if (!names.has(name) && isCertain(name)) this.say(page, `no ${name}, which must be there`);
  }

  private checkSums(sums: Sums): void {
    this.checkBounds(sums, 'count', 'count', sums.count);
    this.checkBounds(sums, 'sum', 'sum', sums.sum);
  }

  /** A log is shown in a state that it may have had; from now on the primary shows none that came before. */
  private checkShown(look: Look, logs: readonly (readonly [string, Values | undefined])[]): void {
    const since = this.since(look);
    const shown: (readonly [string, number])[] = [];
    for (const [name, values] of logs) {
      const fitting = this.stateAs(name, values, since);
      if (fitting === undefined) {
        const what = values ? JSON.stringify(values) : 'nothing';
        this.say(look, `${what} of ${name}, which it was not at that time`);
      } else if (fitting > 0) shown.push([name, fitting]);
    }
    if (!look.isBehind) {
      for (const [name, state] of shown) this.states.see(name, state, look.end);
      return;
    }
    const begins = shown.map(([name, state]) => this.writes.get(name)![state - 1]!.begin);
    const latest = Math.max(since, ...begins);
    this.reached.set(look.reader, latest);
    // It shows a state that the primary had: with the latest of these writes all that were done before that began.
    for (const [name, values] of logs)
      if (this.stateAs(name, values, latest) === undefined)
        this.say(look, `${name} as it was before what else is shown`);
  }

  /** The first state that a log may have had in which it was such a one. */
  private stateAs(name: string, values: Values | undefined, since: number): number | undefined {
    return this.states.of(name, since).find((may) => isSame(may.values, values))?.state;
  }

  private checkBounds(look: PageRequest | Sums, what: string, measure: 'count' | 'sum', told: number): void {
    const { least, most } = this.states.boundsOf(measure, look.projectId, this.since(look));
    if (told < least || told > most) this.say(look, `a ${what} of ${told}, where ${least} to ${most} can be`);
  }

  /** What was seen to be done by then is part of what somebody is shown. */
  private since({ begin, reader, isBehind }: Look): number {
    return isBehind ? (this.reached.get(reader) ?? -Infinity) : begin;
  }

  private say({ reader, begin, end }: Look, what: string): void {
    this.found.push(`${reader}, ${Math.round(begin)} to ${Math.round(end)}: ${what}`);
  }
}

function isSame(one: Values | undefined, other: Values | undefined): boolean {
  return one?.projectId === other?.projectId && one?.duration === other?.duration;
}
