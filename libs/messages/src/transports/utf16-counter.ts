/**
 * Counts the UTF-16 code units that bytes in UTF-8 say, as `Buffer.toString` makes them: what is no UTF-8 becomes
 * U+FFFD, one for each maximal part of a sequence (WHATWG Encoding, UTF-8 decoder). So the end of a text is found whose
 * length somebody gives as `String.length`, without making the text.
 */
export class Utf16Counter {
  units = 0;
  /**
   * Of the sequence that has begun: how many bytes are to come, how many units it is, and what its next byte may be.
   */
  private missing = 0;
  private worth = 1;
  private low = 0x80;
  private high = 0xbf;

  reset(): void {
    this.units = this.missing = 0;
  }

  /** Counts from one position towards another, until there are so many units. Returns where it has stopped. */
  count(bytes: Buffer, from: number, to: number, most: number): number {
    let at = from;
    while (at < to && this.units < most) {
      const byte = bytes[at]!;
      if (this.missing === 0) {
        if (byte < 0x80) this.units++;
        else this.begin(byte);
      } else if (byte < this.low || byte > this.high) {
        // The sequence is cut here. This byte is looked at once more.
        this.units++;
        this.missing = 0;
        continue;
      } else {
        [this.low, this.high] = [0x80, 0xbf];
        if (--this.missing === 0) this.units += this.worth;
      }
      at++;
    }
    return at;
  }

  /** The table 3-7 of Unicode: well-formed sequences. */
  private begin(first: number): void {
    if (first < 0xc2 || first > 0xf4) {
      this.units++;
      return;
    }
    this.missing = first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    this.worth = first < 0xf0 ? 1 : 2;
    this.low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
    this.high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  }
}
