/** The port to the generator of ids. */
export abstract class TimeLogIds {
  /**
   * Returns a new UUIDv7 (RFC 9562, section 5.7), greater than all earlier ones of this process unless the
   * clock was set back by more than a few seconds.
   */
  abstract next(): string;
}
