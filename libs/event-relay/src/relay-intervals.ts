/** The times between the steps of a relay, in milliseconds. Only tests change RELAY_INTERVALS. */
export interface RelayIntervals {
  /** Between two reads of the feed without a signal. */
  readonly poll: number;
  /** The same while events are in flight, so that progress is saved. */
  readonly busyPoll: number;
  /** The minimum between two reads. */
  readonly readPause: number;
  /** Between two renewals of a lease. */
  readonly renewal: number;
  /** Between two updates of the saved progress. */
  readonly progress: number;
  /** The first delay after a failed publication. It doubles after each further one. */
  readonly retry: number;
  /** The maximum delay after a failed publication. */
  readonly longestRetry: number;
  /** Between two measurements of the lag. */
  readonly measurement: number;
}

export const RELAY_INTERVALS: RelayIntervals = {
  poll: 1_000,
  busyPoll: 250,
  readPause: 50,
  renewal: 3_000,
  progress: 250,
  retry: 250,
  longestRetry: 5_000,
  measurement: 2_000,
};

/** The injection token of the intervals. */
export const INTERVALS = Symbol('INTERVALS');
