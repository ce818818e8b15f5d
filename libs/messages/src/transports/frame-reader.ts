import { DomainError } from '../../../errors/src/index.js';
import { MAX_MESSAGE_BYTES } from '../packet.js';
import { Utf16Counter } from './utf16-counter.js';

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
  /** The end of the bytes that `counter` has counted. */
  private counted = 0;
  /** The length of the message in code units; undefined until it is known. */
  private length: number | undefined;
  private readonly counter = new Utf16Counter();
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
      this.counted = this.counter.count(this.bytes, this.counted, this.end, this.length);
      if (this.counted - this.start > MAX_MESSAGE_BYTES) throw tooLarge();
      if (this.counter.units > this.length) throw invalidLength();
      if (this.counter.units === this.length) return true;
    }
    this.hasNewBytes = false;
    return false;
  }

  /** Returns the bytes of the message that is ready. They are valid until more are added. */
  take(): Buffer {
    const message = this.bytes.subarray(this.start, this.counted);
    this.start = this.counted;
    this.length = undefined;
    this.counter.reset();
    this.hasNewBytes = this.hasBegun;
    if (!this.hasBegun) this.bytes = EMPTY;
    return message;
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
