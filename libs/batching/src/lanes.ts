import { type BatcherLimits, unavailable } from './batcher.js';

interface Waiting {
  readonly since: number;
  readonly turn: string | undefined;
  readonly begin: () => Promise<void>;
  readonly refuse: () => void;
}

/**
 * Runs works side by side, at most so many at a time. Those with one turn come one after the other, so that they never
 * hold more than one lane. Who waits for a turn holds up nobody else.
 */
export class Lanes {
  private readonly turns = new Set<string>();
  private waiting: Waiting[] = [];
  private taken = 0;

  constructor(
    /** How many there are; asked at each start, since a pool may not be open yet. */
    private readonly count: () => number,
    private readonly limits: Pick<BatcherLimits, 'queue' | 'wait'>,
    /** Milliseconds. */
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Works that wait for a lane or their turn. */
  get length(): number {
    return this.waiting.length;
  }

  /**
   * Settles like the work. Rejects with DomainError SERVICE_UNAVAILABLE where too many wait, or this one has waited too
   * long.
   */
  run<T>(work: () => Promise<T>, turn?: string): Promise<T> {
    if (this.waiting.length >= this.limits.queue) return Promise.reject(unavailable());
    return new Promise<T>((resolve, reject) => {
      const begin = async () => {
        await work().then(resolve, reject);
        this.taken--;
        if (turn !== undefined) this.turns.delete(turn);
        this.next();
      };
      this.waiting.push({ since: this.now(), turn, begin, refuse: () => reject(unavailable()) });
      this.next();
    });
  }

  private next(): void {
    const oldest = this.now() - this.limits.wait;
    while (this.waiting[0] && this.waiting[0].since < oldest) this.waiting.shift()!.refuse();
    while (this.taken < this.count()) {
      const index = this.waiting.findIndex(({ turn }) => turn === undefined || !this.turns.has(turn));
      if (index === -1) return;
      const [{ turn, begin }] = this.waiting.splice(index, 1) as [Waiting];
      this.taken++;
      if (turn !== undefined) this.turns.add(turn);
      void begin();
    }
  }
}
