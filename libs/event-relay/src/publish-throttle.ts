import { type EventLoopUtilization, performance } from 'node:perf_hooks';

/** Milliseconds for which one allowance holds. */
const TURN = 50;
/** The share of its time in which this process may work. The rest is a reserve for requests. */
const BUSY = 0.75;
/** Events of one turn: always so many, and never more. */
const LEAST = 10;
const MOST = 2_000;

/**
 * How many events may be published now. It gives way: while the process is busy the allowance halves with every turn,
 * down to 200 events a second, and it grows again while there is time.
 */
export class PublishThrottle {
  private allowance = MOST;
  private left = MOST;
  private last: EventLoopUtilization = performance.eventLoopUtilization();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly onTurn: () => void) {}

  start(): void {
    this.last = performance.eventLoopUtilization();
    this.timer ??= setInterval(() => this.turn(), TURN).unref();
  }

  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  /** True, and counted, where one more event may be published in this turn. */
  take(): boolean {
    if (this.left === 0) return false;
    this.left--;
    return true;
  }

  private turn(): void {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, this.last);
    this.last = now;
    this.allowance = nextAllowance(this.allowance, utilization);
    this.left = this.allowance;
    this.onTurn();
  }
}

/** The allowance of the next turn, after a turn in which the process worked for this share of the time. */
export function nextAllowance(allowance: number, utilization: number): number {
  return utilization > BUSY
    ? Math.max(LEAST, Math.floor(allowance / 2))
    : Math.min(MOST, Math.ceil(allowance * 1.25));
}
