/** The port to new identifiers. */
export abstract class TimeLogIds {
  /**
   * A new UUIDv7 (RFC 9562, section 5.7), greater than all that this process has made before, unless the clock was set
   * back by more than a few seconds since: then the ids follow the clock.
   */
  abstract next(): string;
}
