import { timingSafeEqual } from 'node:crypto';
import type { Principal } from '../../libs/auth/src/index.js';
import { digestOf } from './token-text.js';

/** The tokens that the deployment itself declares (`ACCESS_TOKEN`): kept in memory alone. */
export class DeclaredTokens {
  private readonly entries: readonly { digest: Buffer; principal: Principal }[];

  constructor(tokens: readonly string[], scopes: readonly string[]) {
    this.entries = tokens.map(digestOf).map((digest) => ({
      digest,
      principal: { id: `declared:${digest.toString('hex', 0, 8)}`, scopes },
    }));
  }

  /** The principal of a declared token, else undefined; takes the same time whatever the digest. */
  find(digest: Buffer): Principal | undefined {
    let found: Principal | undefined;
    for (const entry of this.entries) {
      if (timingSafeEqual(entry.digest, digest)) found = entry.principal;
    }
    return found;
  }
}
