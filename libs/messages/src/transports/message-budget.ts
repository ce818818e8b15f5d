/** The number of bytes of a message per slot. A parsed message may take 20 times the memory. */
const SLOT_BYTES = 2_048;

/** Limits the messages that wait or are in flight. A message takes one slot, a long one more. */
export class MessageBudget {
  private reserved = 0;

  constructor(private readonly slots: number) {}

  /** Returns whether there are slots for a message. A message of any size fits alone. */
  fits(bytes: number): boolean {
    return this.reserved === 0 || this.reserved + slotsFor(bytes) <= this.slots;
  }

  reserve(bytes: number): void {
    this.reserved += slotsFor(bytes);
  }

  release(bytes: number): void {
    this.reserved -= slotsFor(bytes);
  }
}

function slotsFor(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / SLOT_BYTES));
}
