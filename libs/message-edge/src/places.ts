/** The bytes of a message that take one place. Parsed, they may take 20 times as much memory. */
const PLACE = 2_048;

/** The places of messages that wait for their turn or are under way. Each takes one, a long one more. */
export class Places {
  private taken = 0;

  constructor(private readonly count: number) {}

  /** Whether there are places for a message of so many bytes. Alone any message fits. */
  fit(bytes: number): boolean {
    return this.taken === 0 || this.taken + placesOf(bytes) <= this.count;
  }

  take(bytes: number): void {
    this.taken += placesOf(bytes);
  }

  free(bytes: number): void {
    this.taken -= placesOf(bytes);
  }
}

function placesOf(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / PLACE));
}
