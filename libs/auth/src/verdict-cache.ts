import type { Caller } from './caller.js';

interface Verdict {
  readonly caller: Caller | undefined;
  /** Milliseconds on the clock of the cache's owner. */
  readonly validUntil: number;
}

/** Keeps verdicts about tokens for a short time. It holds a limited number of them; the oldest goes first. */
export class VerdictCache {
  private readonly verdicts = new Map<string, Verdict>();

  constructor(private readonly capacity: number) {}

  get(key: string, now: number): Verdict | undefined {
    const verdict = this.verdicts.get(key);
    if (verdict && verdict.validUntil <= now) {
      this.verdicts.delete(key);
      return undefined;
    }
    return verdict;
  }

  set(key: string, verdict: Verdict): void {
    this.verdicts.delete(key);
    this.verdicts.set(key, verdict);
    if (this.verdicts.size > this.capacity) {
      const [oldest] = this.verdicts.keys();
      this.verdicts.delete(oldest!);
    }
  }

  get size(): number {
    return this.verdicts.size;
  }
}
