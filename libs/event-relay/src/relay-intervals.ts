/** Milliseconds between the steps of a relay. Only tests have others than RELAY_INTERVALS. */
export interface RelayIntervals {
  /** Between two reads of the feed without a signal; shorter while events are under way, to note how far they got. */
  readonly poll: number;
  readonly busyPoll: number;
  /** The least between two reads. */
  readonly readPause: number;
  /** After which a lease is renewed. */
  readonly renewal: number;
  /** After which progress is noted. */
  readonly progress: number;
  /** Of the pause after a publication that failed: the first, and the longest. */
  readonly retry: number;
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

/** The token of the intervals of an app. */
export const INTERVALS = Symbol('INTERVALS');
