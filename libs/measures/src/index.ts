/* The interface by which modules publish metrics without knowing Prometheus. */

/** Registers metrics, with names and units in the style of Prometheus: seconds, `…_total`. */
export interface Meter {
  /**
   * Registers a gauge. `read` returns its value when the metrics are requested. `combine` makes one value of those of
   * two modules; the default adds them.
   */
  gauge(name: string, help: string, read: () => number, combine?: (a: number, b: number) => number): void;
  /** Registers a gauge that is 1 with the text that `read` returns as the value of a label; absent for undefined. */
  info(name: string, help: string, label: string, read: () => string | undefined): void;
  /** Registers a counter that the application counts itself. `read` is called as for a gauge. */
  counter(name: string, help: string, read: () => number): void;
  /** Registers a histogram with these upper bounds. */
  histogram(name: string, help: string, buckets: readonly number[]): Observer;
}

/** Records the values of a histogram. */
export interface Observer {
  observe(value: number): void;
}

/** A provider with metrics. It only has to extend this class: an app with metrics finds it. */
export abstract class MetricsSource {
  /** Registers the metrics. Called once, and only in an app with metrics. */
  abstract registerMetrics(meter: Meter): void;
}
