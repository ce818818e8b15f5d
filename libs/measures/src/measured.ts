/** Takes what there is to measure, under names and with units as Prometheus has them: seconds, `…_total`. */
export interface Meter {
  /** A state, read when it is asked for. */
  gauge(name: string, help: string, read: () => number): void;
  /** A number that only grows, counted elsewhere, read when it is asked for. */
  counter(name: string, help: string, read: () => number): void;
  /** How values are spread over buckets with these upper bounds. Returns where to put each value. */
  histogram(name: string, help: string, buckets: readonly number[]): (value: number) => void;
}

/**
 * What measures a part of an app. A provider that extends it needs no more than to be there: where the app has metrics,
 * they find it.
 */
export abstract class Measured {
  /** Tells what there is to measure. Called once, or never in an app without metrics. */
  abstract measure(meter: Meter): void;
}
