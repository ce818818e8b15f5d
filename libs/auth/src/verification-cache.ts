import type { Caller } from './caller.js';

interface Verification {
  /** The caller of the token; undefined if the token is not valid. */
  readonly caller: Caller | undefined;
  /** The end of this entry, in milliseconds on the clock of the cache's owner. */
  readonly validUntil: number;
}

/** A cache of verified tokens. It has a maximum number of entries and drops the oldest. */
export class VerificationCache {
  private readonly verifications = new Map<string, Verification>();

  constructor(private readonly maxEntries: number) {}

  get(key: string, now: number): Verification | undefined {
    const verification = this.verifications.get(key);
    if (verification && verification.validUntil <= now) {
      this.verifications.delete(key);
      return undefined;
    }
    return verification;
  }

  set(key: string, verification: Verification): void {
    this.verifications.delete(key);
    this.verifications.set(key, verification);
    if (this.verifications.size > this.maxEntries) {
      const [oldest] = this.verifications.keys();
      this.verifications.delete(oldest!);
    }
  }

  get size(): number {
    return this.verifications.size;
  }
}
