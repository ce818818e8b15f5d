import { DomainError } from '../../../errors/src/index.js';
import { MAX_MESSAGE_BYTES } from '../packet.js';

/** The byte between the length of a message and its text: `#`. */
const DELIMITER = 0x23;
/** The maximum number of digits of a length. */
const MAX_LENGTH_DIGITS = 7;
const EMPTY = Buffer.alloc(0);

/** Returns a message as Nest sends it over TCP: its length in code units, `#`, and its text. */
export function frameOf(text: string): string {
  return `${text.length}#${text}`;
}

/** Extracts messages from the bytes of a TCP connection. It buffers about one message. */
export class FrameReader {
  /** The bytes from `start` to `end` were received and not taken yet. */
  private bytes: Buffer = EMPTY;
  private start = 0;
  private end = 0;
  /** The end of the bytes whose UTF-16 code units are counted. */
  private counted = 0;
  private units = 0;
  /** The number of bytes that the last counted character lacks. */
  private missing = 0;
  /** The length of the message in code units; undefined until it is known. */
  private length: number | undefined;
  private hasNewBytes = false;

  /** The number of bytes in memory. */
  get heldBytes(): number {
    return this.bytes.length;
  }

  /** Whether a part of a message was received. */
  get hasBegun(): boolean {
    return this.end > this.start || this.length !== undefined;
  }

  /** Whether bytes were added since `isReady` returned false. */
  get mayBeReady(): boolean {
    return this.hasNewBytes;
  }

  add(chunk: Buffer): void {
    this.hasNewBytes = true;
    if (!this.hasBegun) {
      this.bytes = chunk;
      this.start = this.counted = 0;
      this.end = chunk.length;
      return;
    }
    const received = this.end - this.start;
    if (this.end + chunk.length > this.bytes.length) {
      // Doubled, because each chunk may be a single byte.
      const grown = Buffer.allocUnsafeSlow(2 * (received + chunk.length));
      this.bytes.copy(grown, 0, this.start, this.end);
      this.bytes = grown;
      this.counted -= this.start;
      this.start = 0;
      this.end = received;
    }
    chunk.copy(this.bytes, this.end);
    this.end += chunk.length;
  }

  /**
   * Returns whether a whole message was received. Throws DomainError VALIDATION_ERROR or
   * PAYLOAD_TOO_LARGE if no message can follow: close the connection then.
   */
  isReady(): boolean {
    this.length ??= this.readLength();
    if (this.length !== undefined) {
      this.count(this.length);
      if (this.counted - this.start > MAX_MESSAGE_BYTES) throw tooLarge();
      if (this.units > this.length) throw invalidLength();
      if (this.units === this.length && this.missing === 0) return true;
    }
    this.hasNewBytes = false;
    return false;
  }

  /** Returns the bytes of the message that is ready. They are valid until more are added. */
  take(): Buffer {
    const message = this.bytes.subarray(this.start, this.counted);
    this.start = this.counted;
    this.length = undefined;
    this.units = 0;
    this.hasNewBytes = this.hasBegun;
    if (!this.hasBegun) this.bytes = EMPTY;
    return message;
  }

  /**
   * Counts up to a number of code units, without decoding the text. Invalid UTF-8 may have another
   * number than its decoded text: the connection then ends, by a wrong length or by its timeout.
   */
  private count(units: number): void {
    for (; this.counted < this.end && (this.units < units || this.missing > 0); this.counted++) {
      const byte = this.bytes[this.counted]!;
      if (this.missing > 0 && byte >= 0x80 && byte < 0xc0) {
        this.missing--;
      } else {
        this.units += byte < 0xf0 ? 1 : 2;
        this.missing = byte < 0xc0 ? 0 : byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
      }
    }
  }

  private readLength(): number | undefined {
    const head = this.bytes.subarray(this.start, Math.min(this.end, this.start + MAX_LENGTH_DIGITS + 1));
    const digits = head.indexOf(DELIMITER);
    if (digits < 0 && head.length <= MAX_LENGTH_DIGITS && isDigits(head)) return undefined;
    if (digits < 1 || !isDigits(head.subarray(0, digits))) throw invalidLength();
    const length = Number(head.toString('latin1', 0, digits));
    // A code unit is at least one byte.
    if (length > MAX_MESSAGE_BYTES) throw tooLarge();
    this.start += digits + 1;
    this.counted = this.start;
    return length;
  }
}

function isDigits(bytes: Buffer): boolean {
  return bytes.every((byte) => byte >= 0x30 && byte <= 0x39);
}

function invalidLength(): DomainError {
  return new DomainError('VALIDATION_ERROR', 'a message must begin with the length of its text and #');
}

function tooLarge(): DomainError {
  return new DomainError('PAYLOAD_TOO_LARGE', `the message must be at most ${MAX_MESSAGE_BYTES} bytes`);
}
