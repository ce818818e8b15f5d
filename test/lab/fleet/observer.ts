import { setTimeout as delay } from 'node:timers/promises';
import { WAIT_LIMIT } from '../eventually.js';
import { median } from '../bench/statistics.js';
import type { Fleet } from './fleet.js';

/** Milliseconds between two looks at the lag, and at the memory. */
const PAUSE = 1_000;
const LOOK = 5_000;
/** Seconds of age from which on an event is late. */
const LATE = 10;
/** By how much an instance may have more memory at the end than after its start: a heap is never swept to its end. */
const MOST_GROWTH = 1.15;

/** Looks at how late events are at the broker, and at the memory of each instance, until it is stopped. */
export class Observer {
  /** Seconds. */
  longestLag = 0;
  /** Megabytes of each process, by its id, at each look. */
  private readonly lives = new Map<number, number[]>();
  private readonly end = new AbortController();
  private readonly watching: Promise<unknown>;

  constructor(
    private readonly fleet: Fleet,
    private readonly token: string,
  ) {
    this.watching = Promise.all([
      this.every(PAUSE, async () => {
        this.longestLag = Math.max(this.longestLag, (await this.lag()) || 0);
      }),
      this.every(LOOK, () => this.lookAtMemory()),
    ]);
    // Told by stop().
    this.watching.catch(() => undefined);
  }

  async stop(): Promise<void> {
    this.end.abort();
    await this.watching;
  }

  /**
   * Seconds: the age of the oldest event that the broker does not have, as the first instance tells. NaN where it does
   * not know.
   */
  async lag(): Promise<number> {
    const headers = { authorization: `Bearer ${this.token}` };
    const answer = await fetch(`http://127.0.0.1:${this.fleet.instances[0]!.port}/metrics`, { headers });
    return Number(/^time_log_event_lag_seconds (\S+)$/m.exec(await answer.text())?.[1]);
  }

  /** Seconds until no event is late any more; Infinity if that takes longer than a wait may. */
  async untilInTime(): Promise<number> {
    const begun = performance.now();
    const took = () => (performance.now() - begun) / 1_000;
    while (took() * 1_000 < WAIT_LIMIT) {
      if ((await this.lag()) < LATE) return took();
      await delay(PAUSE);
    }
    return Infinity;
  }

  /**
   * Megabytes in the second and the last quarter of each life of at least so many seconds. It has grown where it ends
   * with more than the oldest one had early: who was killed starts with less, and comes up to that slowly.
   */
  memory(seconds: number): { readonly early: number; readonly late: number; readonly hasGrown: boolean }[] {
    const lives = [...this.lives.values()].filter(({ length }) => length >= (seconds * 1_000) / LOOK);
    const partOf = (life: readonly number[], from: number) =>
      median(life.slice(life.length * from, life.length * (from + 0.25)));
    const [oldest = []] = lives.toSorted((one, other) => other.length - one.length);
    const most = partOf(oldest, 0.25) * MOST_GROWTH;
    return lives.map((life) => {
      const [early, late] = [partOf(life, 0.25), partOf(life, 0.75)];
      return { early, late, hasGrown: late > most };
    });
  }

  private async lookAtMemory(): Promise<void> {
    for (const instance of [...this.fleet.instances, this.fleet.reader]) {
      // It may just have been killed.
      const megabytes = await instance.memory().catch(() => undefined);
      if (megabytes === undefined) continue;
      const { pid } = instance;
      this.lives.set(pid, [...(this.lives.get(pid) ?? []), megabytes]);
    }
  }

  private async every(pause: number, act: () => Promise<unknown>): Promise<void> {
    while (!this.end.signal.aborted) {
      await act();
      await delay(pause);
    }
  }
}
