import { timingSafeEqual } from 'node:crypto';
import type { Principal } from '../../libs/auth/src/index.js';
import { digestOf } from './token-text.js';

/** The tokens that the deployment itself declares (`ACCESS_TOKEN`). They are only kept in memory. */
export class DeclaredTokens {
  private readonly entries: readonly { digest: Buffer; principal: Principal }[];

  constructor(tokens: readonly string[], scopes: readonly string[]) {
    this.entries = tokens.map(digestOf).map((digest) => ({
      digest,
      principal: { id: `declared:${digest.toString('hex', 0, 8)}`, scopes },
    }));
  }

  /** The principal of a declared token, else undefined. Takes the same time for every digest. */
  find(digest: Buffer): Principal | undefined {
    let found: Principal | undefined;
    for (const entry of this.entries) {
      if (timingSafeEqual(entry.digest, digest)) found = entry.principal;
    }
    return found;
  }
}
