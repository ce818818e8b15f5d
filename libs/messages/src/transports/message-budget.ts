/** The bytes of a message that take one place. Parsed, they may take 20 times as much memory. */
const PLACE = 2_048;

/** Bounds the messages that wait for their turn or are under way. Each takes one place, a long one more. */
export class MessageBudget {
  private taken = 0;

  constructor(private readonly places: number) {}

  /** Whether there are places for a message of so many bytes. Alone any message fits. */
  fits(bytes: number): boolean {
    return this.taken === 0 || this.taken + placesOf(bytes) <= this.places;
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
