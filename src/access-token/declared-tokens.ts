import { timingSafeEqual } from 'node:crypto';
import type { Caller } from '../../libs/auth/src/index.js';
import { digestOf } from './token-text.js';

/** The tokens of the setting `ACCESS_TOKEN`. They are kept only in memory. */
export class DeclaredTokens {
  private readonly entries: readonly { digest: Buffer; caller: Caller }[];

  constructor(tokens: readonly string[], scopes: readonly string[]) {
    this.entries = tokens.map(digestOf).map((digest) => ({
      digest,
      caller: { id: `declared:${digest.toString('hex', 0, 8)}`, scopes },
    }));
  }

  /** Returns the caller of a declared token, in the same time for every digest. */
  find(digest: Buffer): Caller | undefined {
    let found: Caller | undefined;
    for (const entry of this.entries) {
      if (timingSafeEqual(entry.digest, digest)) found = entry.caller;
    }
    return found;
  }
}
