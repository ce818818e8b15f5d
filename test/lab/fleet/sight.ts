import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';

/** What all clients together have seen of one kind of request. */
export class Sight {
  acknowledged = 0;
  /** Answered 503. */
  refused = 0;
  /** Not answered: the connection was closed. */
  closed = 0;
  /** Microseconds. */
  private readonly latencies: RecordableHistogram = createHistogram();
  /** Milliseconds: the longest time in which none was acknowledged. */
  longestGap = 0;
  private last = performance.now();

  /** Looks on from now. */
  resume(): void {
    this.last = performance.now();
  }

  note(milliseconds: number): void {
    const now = performance.now();
    this.acknowledged++;
    this.latencies.record(Math.max(1, Math.round(milliseconds * 1_000)));
    this.longestGap = Math.max(this.longestGap, now - this.last);
    this.last = now;
  }

  /** Milliseconds in which so many percent of the acknowledged were answered. */
  percentile(percent: number): string {
    return (this.latencies.percentile(percent) / 1_000).toFixed(1);
  }

  /** What several have seen. */
  static all(sights: readonly Sight[]): Sight {
    const all = new Sight();
    for (const sight of sights) {
      all.acknowledged += sight.acknowledged;
      all.refused += sight.refused;
      all.closed += sight.closed;
      all.latencies.add(sight.latencies);
      all.longestGap = Math.max(all.longestGap, sight.longestGap);
    }
    return all;
  }
}

/** Prints lines of a table. */
export function printTable(lines: readonly (readonly (string | number)[])[]): void {
  process.stderr.write(`${lines.map((line) => `| ${line.join(' | ')} |`).join('\n')}\n`);
}

export const rounded = (megabytes: readonly number[]) => megabytes.map((one) => one.toFixed(0)).join(', ');
