import { type EventLoopUtilization, performance } from 'node:perf_hooks';

/** The time for which an allowance is valid. */
const TICK_MS = 50;
/** The utilization of the event loop above which the process is busy. The rest is for requests. */
const BUSY_UTILIZATION = 0.75;
/** The minimum and maximum number of events per tick. */
const MIN_EVENTS = 10;
const MAX_EVENTS = 2_000;

/**
 * Limits how many events are published, in favor of requests: while the process is busy, the
 * allowance is halved at each tick, down to 200 events per second. Then it grows again.
 */
export class PublishThrottle {
  private allowance = MAX_EVENTS;
  private remaining = MAX_EVENTS;
  private last: EventLoopUtilization = performance.eventLoopUtilization();
  private readonly timer = setInterval(() => this.tick(), TICK_MS).unref();

  constructor(private readonly onTick: () => void) {}

  stop(): void {
    clearInterval(this.timer);
  }

  /** Whether an event may be published now. */
  get hasAllowance(): boolean {
    return this.remaining > 0;
  }

  /** Counts an event that is published. */
  count(): void {
    this.remaining--;
  }

  private tick(): void {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, this.last);
    this.last = now;
    this.allowance = nextAllowance(this.allowance, utilization);
    this.remaining = this.allowance;
    this.onTick();
  }
}

/** Returns the allowance of the next tick, after one with this utilization of the event loop. */
export function nextAllowance(allowance: number, utilization: number): number {
  return utilization > BUSY_UTILIZATION
    ? Math.max(MIN_EVENTS, Math.floor(allowance / 2))
    : Math.min(MAX_EVENTS, Math.ceil(allowance * 1.25));
}
