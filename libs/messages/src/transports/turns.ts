/** Milliseconds of work before others of the process have their turn. */
const SLICE = 5;
/** Milliseconds that any turn counts for. */
const LEAST = 0.05;

/** Begins a message. What follows it runs by itself. */
type Work = () => void;

/** Work that waits, in the order in which it is due. */
interface Line {
  readonly waiting: { readonly work: Work; readonly due: number }[];
  /** When the last one was due, in milliseconds of work and not on any clock. */
  time: number;
}

/**
 * Begins messages in small pieces of time, so that whoever sends many holds up nobody. Each connection has one turn
 * here at a time, and one whose last turn took long lets others go first (fair queueing). Strangers and others have a
 * line each, and the lines take turns, so that neither waits for all of the other.
 */
export class Turns {
  private readonly known: Line = { waiting: [], time: 0 };
  private readonly strangers: Line = { waiting: [], time: 0 };
  private isAtWork = false;

  /** Does the work soon. `cost`: the milliseconds that the last turn took of whom it is for. */
  take(work: Work, cost = 0, isStranger = false): void {
    const { waiting, time } = isStranger ? this.strangers : this.known;
    const due = time + Math.max(cost, LEAST);
    let place = waiting.length;
    while (place > 0 && waiting[place - 1]!.due > due) place--;
    waiting.splice(place, 0, { work, due });
    if (!this.isAtWork) this.goOn();
  }

  private goOn(): void {
    this.isAtWork = this.isWaiting();
    if (this.isAtWork) setImmediate(() => this.work());
  }

  private work(): void {
    const end = performance.now() + SLICE;
    try {
      do {
        for (const line of [this.known, this.strangers]) {
          const next = line.waiting.shift();
          if (!next) continue;
          line.time = next.due;
          next.work();
        }
      } while (performance.now() < end && this.isWaiting());
    } finally {
      // Whoever fails holds up nobody else.
      this.goOn();
    }
  }

  private isWaiting(): boolean {
    return this.known.waiting.length + this.strangers.waiting.length > 0;
  }
}
