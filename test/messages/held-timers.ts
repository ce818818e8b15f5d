import { jest } from '@jest/globals';

/** Milliseconds of the shortest timer that is held: no timer of the service is as long by default. */
export const HELD = 1_000_000;

/** The long timers of the compiled modules, which end when a test says so: limits of time that no machine misses. */
export class HeldTimers {
  /** Those that wait, with their delays. */
  private readonly waiting = new Map<unknown, { readonly delay: number; readonly end: () => void }>();
  /** How many were begun so far. */
  begun = 0;
  private readonly spies: readonly { mockRestore(): void }[];

  constructor() {
    const { setTimeout: begin, clearTimeout: clear } = serviceGlobal;
    const hold = (act: () => void, delay?: number, ...args: []) => {
      if (delay === undefined || delay < HELD) return begin(act, delay, ...args);
      const timer = begin(() => undefined, 0);
      this.begun++;
      this.waiting.set(timer, { delay, end: act });
      return timer;
    };
    this.spies = [
      jest.spyOn(serviceGlobal, 'setTimeout').mockImplementation(hold),
      jest.spyOn(serviceGlobal, 'clearTimeout').mockImplementation((timer) => {
        this.waiting.delete(timer);
        clear(timer);
      }),
    ];
  }

  /** The delays of those that wait. */
  get delays(): number[] {
    return [...this.waiting.values()].map(({ delay }) => delay);
  }

  /** Ends all that wait. */
  end(): void {
    const ended = [...this.waiting.values()];
    this.waiting.clear();
    for (const { end } of ended) end();
  }

  restore(): void {
    for (const spy of this.spies) spy.mockRestore();
  }
}
