/** The port to new ids. */
export abstract class TimeLogIds {
  /**
   * A new UUIDv7 (RFC 9562, section 5.7), greater than all earlier ones of this process. Only after the clock was set
   * back by more than a few seconds the ids follow the clock.
   */
  abstract next(): string;
}
