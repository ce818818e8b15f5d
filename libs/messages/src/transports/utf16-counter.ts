/**
 * Counts the UTF-16 code units of UTF-8 bytes, as `Buffer.toString` decodes them: each maximal part
 * of an invalid sequence becomes U+FFFD (WHATWG Encoding, UTF-8 decoder). It finds the end of a
 * text with a known `String.length` without decoding the text.
 */
export class Utf16Counter {
  units = 0;
  /** The number of bytes that the current sequence lacks. */
  private missing = 0;
  /** The number of code units of the current sequence. */
  private unitsOfSequence = 1;
  /** The range of its next byte. */
  private low = 0x80;
  private high = 0xbf;

  reset(): void {
    this.units = this.missing = 0;
  }

  /** Counts from one index to another, or until `maxUnits`. Returns the index where it stops. */
  count(bytes: Buffer, from: number, to: number, maxUnits: number): number {
    let at = from;
    while (at < to && this.units < maxUnits) {
      const byte = bytes[at]!;
      if (this.missing === 0) {
        if (byte < 0x80) this.units++;
        else this.begin(byte);
      } else if (byte < this.low || byte > this.high) {
        // The sequence ends early. This byte is examined again.
        this.units++;
        this.missing = 0;
        continue;
      } else {
        [this.low, this.high] = [0x80, 0xbf];
        if (--this.missing === 0) this.units += this.unitsOfSequence;
      }
      at++;
    }
    return at;
  }

  /** Begins a sequence (Unicode, table 3-7: well-formed UTF-8 byte sequences). */
  private begin(first: number): void {
    if (first < 0xc2 || first > 0xf4) {
      this.units++;
      return;
    }
    this.missing = first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    this.unitsOfSequence = first < 0xf0 ? 1 : 2;
    this.low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
    this.high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  }
}
