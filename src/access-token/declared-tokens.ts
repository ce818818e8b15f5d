import { timingSafeEqual } from 'node:crypto';
import type { Caller } from '../../libs/auth/src/index.js';
import { digestOf } from './token-text.js';

/** The tokens that the deployment itself declares (`ACCESS_TOKEN`). They are only kept in memory. */
export class DeclaredTokens {
  private readonly entries: readonly { digest: Buffer; caller: Caller }[];

  constructor(tokens: readonly string[], scopes: readonly string[]) {
    this.entries = tokens.map(digestOf).map((digest) => ({
      digest,
      caller: { id: `declared:${digest.toString('hex', 0, 8)}`, scopes },
    }));
  }

  /** The caller of a declared token, else undefined. Takes the same time for every digest. */
  find(digest: Buffer): Caller | undefined {
    let found: Caller | undefined;
    for (const entry of this.entries) {
      if (timingSafeEqual(entry.digest, digest)) found = entry.caller;
    }
    return found;
  }
}
