/** Takes measures, with names and units in Prometheus style: seconds, `…_total`. */
export interface Meter {
  /** A state. It is read on request. */
  gauge(name: string, help: string, read: () => number): void;
  /** A number that only grows, counted elsewhere. It is read on request. */
  counter(name: string, help: string, read: () => number): void;
  /** How values spread over buckets with these upper bounds. Returns a function that takes each value. */
  histogram(name: string, help: string, buckets: readonly number[]): (value: number) => void;
}

/** Measures a part of an app. A provider only has to extend this class: an app with metrics finds it. */
export abstract class Measured {
  /** Registers its measures. Called once; never in an app without metrics. */
  abstract measure(meter: Meter): void;
}
