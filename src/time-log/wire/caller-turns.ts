/** Work that was asked for. */
export interface Asked<T> {
  readonly done: Promise<T>;
  /** Takes it back, where it has not begun: then it is never done. */
  leave(): void;
}

/**
 * Does one piece of work at a time. Callers have their turns one after the other, however much each of them asks for.
 */
export class CallerTurns {
  private isTaken = false;
  /** What has to begin, by caller. The caller whose turn is next comes first. */
  private readonly lines = new Map<unknown, (() => void)[]>();

  /** Whether somebody has a turn, so that others wait. */
  get isBusy(): boolean {
    return this.isTaken;
  }

  take<T>(caller: unknown, work: () => Promise<T>): Asked<T> {
    let begin!: () => void;
    const done = new Promise<void>((resolve) => (begin = resolve)).then(work);
    // Who waits for the work goes on before this.
    const end = () => setImmediate(() => this.next());
    done.then(end, end);
    const line = this.lines.get(caller);
    if (line) line.push(begin);
    else this.lines.set(caller, [begin]);
    if (!this.isTaken) this.next();
    return { done, leave: () => this.leave(caller, begin) };
  }

  private next(): void {
    const [first] = this.lines;
    this.isTaken = first !== undefined;
    if (!first) return;
    const [caller, line] = first;
    // The newest comes first. Under overload the oldest has waited too long and could not be answered in time.
    const begin = line.pop()!;
    this.lines.delete(caller);
    if (line.length > 0) this.lines.set(caller, line);
    begin();
  }

  private leave(caller: unknown, begin: () => void): void {
    const line = this.lines.get(caller)?.filter((other) => other !== begin);
    if (line?.length) this.lines.set(caller, line);
    else this.lines.delete(caller);
  }
}
