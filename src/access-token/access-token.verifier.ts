import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { CachedVerifier, type Caller, type Verification } from '../../libs/auth/src/index.js';
import { Limit } from '../../libs/batching/src/index.js';
import { DomainError } from '../../libs/errors/src/index.js';
import { AccessTokenLookup } from './access-token.lookup.js';
import { digestOf, hasTokenForm } from './access-token.js';

/** The maximum number of lookups of unknown tokens at a time, so that a flood of them leaves the pool to others. */
const UNKNOWN_LOOKUPS = 2;
/** The maximum number of other ones that wait, and the maximum time in milliseconds. */
const MAX_WAITING = 5_000;
const MAX_WAIT_MS = 5_000;
/** The time for which an unknown token is refused without a lookup. */
const REFUSAL_LIFETIME_MS = 4_000;

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
    for (const entry of this.entries) if (timingSafeEqual(entry.digest, digest)) found = entry.caller;
    return found;
  }
}

/** Verifies access tokens. */
@Injectable()
export class AccessTokenVerifier extends CachedVerifier {
  private readonly refused: LRUCache<string, true>;
  /** The digests of tokens that were valid at their last lookup, whose next one does not wait for unknown tokens. */
  private readonly seen: LRUCache<string, true>;
  private readonly unknownLookups = new Limit(() => UNKNOWN_LOOKUPS, MAX_WAIT_MS);
  private misses = 0;

  constructor(
    private readonly lookup: AccessTokenLookup,
    private readonly declared: DeclaredTokens,
    /** The maximum number of accepted and of refused tokens in memory. */
    capacity: number,
    /** Returns a monotonic time in milliseconds. */
    now?: () => number,
  ) {
    super(capacity, now);
    this.refused = new LRUCache({
      max: capacity,
      ttl: REFUSAL_LIFETIME_MS,
      ttlResolution: 0,
      perf: { now: this.elapsed },
    });
    this.seen = new LRUCache({ max: capacity });
  }

  /** The number of verifications in memory, and of hits and misses since the start. */
  get cache(): { readonly size: number; readonly hits: number; readonly misses: number } {
    const { hits, misses } = this;
    return { size: this.size + this.refused.size, hits, misses };
  }

  protected override async lookUp(token: string): Promise<Verification | undefined> {
    const digest = digestOf(token);
    const declared = this.declared.find(digest);
    if (declared) return { caller: declared };
    if (!hasTokenForm(token)) return undefined;
    if (this.refused.has(token)) {
      this.hits++;
      return undefined;
    }
    this.misses++;
    const key = digest.toString('latin1');
    const found = await (this.seen.has(key) ? this.lookup.find(digest) : this.lookUpUnknown(digest));
    if (found) {
      this.seen.set(key, true);
    } else {
      this.seen.delete(key);
      this.refused.set(token, true);
    }
    return found;
  }

  private async lookUpUnknown(digest: Buffer): Promise<Verification | undefined> {
    if (this.unknownLookups.length >= MAX_WAITING) throw new DomainError('SERVICE_UNAVAILABLE');
    return this.unknownLookups.run(undefined, () => this.lookup.find(digest));
  }
}
