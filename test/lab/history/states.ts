import type { Values, Write, Writes } from './history.js';

interface Log {
  readonly writes: readonly Write[];
  /** When each write was seen to be done. */
  readonly seen: number[];
  /** How many of them have begun. */
  begun: number;
}

/** A state that a log may have had: how many writes were done, and what they made of it. */
interface State {
  readonly state: number;
  readonly values: Values | undefined;
}

/**
 * The states that logs may have had when somebody looked: from the last write that was seen to be done at a moment, to
 * the last that has begun by now; now goes on.
 */
export class States {
  private readonly logs: ReadonlyMap<string, Log>;

  constructor(writes: Writes) {
    this.logs = new Map(
      [...writes].map(([name, ofLog]) => [
        name,
        { writes: ofLog, seen: ofLog.map(({ end }) => end ?? Infinity), begun: 0 },
      ]),
    );
  }

  /** From now on all writes that began before a moment have begun. */
  goOn(until: number): void {
    for (const log of this.logs.values()) while ((log.writes[log.begun]?.begin ?? until) < until) log.begun++;
  }

  /** Notes that the write which leads to a state of a log was seen to be done. */
  see(name: string, state: number, at: number): void {
    const { seen } = this.logs.get(name)!;
    seen[state - 1] = Math.min(seen[state - 1]!, at);
  }

  /** What a log may have been. */
  of(name: string, since: number): State[] {
    const log = this.logs.get(name);
    return log ? statesOf(log, since) : [{ state: 0, values: undefined }];
  }

  /** How few and how many all logs may have come to. */
  boundsOf(
    measure: 'count' | 'sum',
    projectId: string | undefined,
    since: number,
  ): { least: number; most: number } {
    let [least, most] = [0, 0];
    for (const { writes, seen, begun } of this.logs.values()) {
      let [low, high] = [Infinity, 0];
      for (let state = begun; ; state--) {
        const values = writes[state - 1]?.values;
        const share = meets(values, projectId) ? (measure === 'count' ? 1 : values.duration) : 0;
        low = Math.min(low, share);
        high = Math.max(high, share);
        if (state === 0 || seen[state - 1]! <= since) break;
      }
      least += low;
      most += high;
    }
    return { least, most };
  }

  /** How many writes had begun, and were not seen to be done at a moment. */
  writesSince(since: number): number {
    let count = 0;
    for (const { seen, begun } of this.logs.values())
      for (let write = 0; write < begun; write++) if (seen[write]! > since) count++;
    return count;
  }
}

function statesOf({ writes, seen, begun }: Log, since: number): State[] {
  const states: State[] = [];
  for (let state = begun; ; state--) {
    states.unshift({ state, values: writes[state - 1]?.values });
    if (state === 0 || seen[state - 1]! <= since) return states;
  }
}

/** Whether such a log is among those of a project, or of all. */
export function meets(values: Values | undefined, projectId: string | undefined): values is Values {
  return values !== undefined && (projectId === undefined || values.projectId === projectId);
}
