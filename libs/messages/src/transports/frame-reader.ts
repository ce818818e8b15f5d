import { DomainError } from '../../../errors/src/index.js';
import { LARGEST_MESSAGE } from '../packet.js';
import { Utf16Counter } from './utf16-counter.js';

/** Between the length of a message and its text. */
const DELIMITER = 0x23;
/** The most digits of a length. */
const DIGITS = 7;
const NOTHING = Buffer.alloc(0);

/** A message as Nest sends it over TCP: its length in UTF-16 code units, `#`, and its text in UTF-8. */
export function frameOf(text: string): string {
  return `${text.length}#${text}`;
}

/**
 * Finds the messages in the bytes of a TCP connection. It keeps the bytes of one message, and what was read with it.
 */
export class FrameReader {
  /** What was received and not taken is from `start` to `end`. */
  private bytes: Buffer = NOTHING;
  private start = 0;
  private end = 0;
  /** How far the text of the message is counted. */
  private counted = 0;
  /** In code units; undefined before it is known. */
  private length: number | undefined;
  private readonly counter = new Utf16Counter();
  private isNew = false;

  /** Bytes of memory. */
  get held(): number {
    return this.bytes.length;
  }

  /** Whether a part of a message is there. */
  get hasBegun(): boolean {
    return this.end > this.start || this.length !== undefined;
  }

  /** Whether more has come since nothing was ready. */
  get mayBeReady(): boolean {
    return this.isNew;
  }

  add(chunk: Buffer): void {
    this.isNew = true;
    if (!this.hasBegun) {
      this.bytes = chunk;
      this.start = this.counted = 0;
      this.end = chunk.length;
      return;
    }
    const received = this.end - this.start;
    if (this.end + chunk.length > this.bytes.length) {
      // Not by each chunk, which may be a single byte.
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
   * Whether a whole message is there. Throws DomainError VALIDATION_ERROR or PAYLOAD_TOO_LARGE where none can follow:
   * then the connection is of no more use.
   */
  isReady(): boolean {
    this.length ??= this.readLength();
    if (this.length !== undefined) {
      this.counted = this.counter.count(this.bytes, this.counted, this.end, this.length);
      if (this.counted - this.start > LARGEST_MESSAGE) throw tooLarge();
      if (this.counter.units > this.length) throw unreadable();
      if (this.counter.units === this.length) return true;
    }
    this.isNew = false;
    return false;
  }

  /** The bytes of the message that is ready. They are good until more are added. */
  take(): Buffer {
    const message = this.bytes.subarray(this.start, this.counted);
    this.start = this.counted;
    this.length = undefined;
    this.counter.reset();
    this.isNew = this.hasBegun;
    if (!this.hasBegun) this.bytes = NOTHING;
    return message;
  }

  private readLength(): number | undefined {
    const head = this.bytes.subarray(this.start, Math.min(this.end, this.start + DIGITS + 1));
    const digits = head.indexOf(DELIMITER);
    if (digits < 0 && head.length <= DIGITS && isDigits(head)) return undefined;
    if (digits < 1 || !isDigits(head.subarray(0, digits))) throw unreadable();
    const length = Number(head.toString('latin1', 0, digits));
    // A code unit is at least one byte.
    if (length > LARGEST_MESSAGE) throw tooLarge();
    this.start += digits + 1;
    this.counted = this.start;
    return length;
  }
}

function isDigits(bytes: Buffer): boolean {
  return bytes.every((byte) => byte >= 0x30 && byte <= 0x39);
}

function unreadable(): DomainError {
  return new DomainError('VALIDATION_ERROR', 'a message must begin with the length of its text and #');
}

function tooLarge(): DomainError {
  return new DomainError('PAYLOAD_TOO_LARGE', `the message must be at most ${LARGEST_MESSAGE} bytes`);
}
