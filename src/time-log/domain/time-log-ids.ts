/** The port to new identifiers. */
export abstract class TimeLogIds {
  /** A new UUIDv7 (RFC 9562, section 5.7), greater than all that this process has made before. */
  abstract next(): string;
}
