import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type Caller, TokenVerifier, VerificationCache } from '../../libs/auth/src/index.js';
import { Batcher } from '../../libs/batching/src/index.js';
import { AccessTokenLookup } from './access-token.lookup.js';
import { digestOf, hasTokenForm } from './access-token.js';

/** The lifetime of a verification. A revocation must take effect everywhere within 5 seconds. */
const VERIFICATION_LIFETIME_MS = 4_000;
/** The limits of a lookup: tokens in a statement, waiting tokens, and their waiting time in ms. */
const LOOKUP_LIMITS = { batch: 500, queue: 5_000, wait: 5_000 };

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

interface PendingLookup {
  readonly key: string;
  readonly digest: Buffer;
}

/**
 * Verifies access tokens. It runs one statement at a time, for many tokens: so a flood of unknown
 * tokens takes one connection of the database, and a limited amount of memory.
 */
@Injectable()
export class AccessTokenVerifier extends TokenVerifier {
  private readonly accepted: VerificationCache;
  private readonly rejected: VerificationCache;
  private readonly lookups = new Batcher(
    (pending: readonly PendingLookup[]) => this.lookUp(pending),
    LOOKUP_LIMITS,
  );
  /** The pending lookups. All requests with the same token share one. */
  private readonly pending = new Map<string, Promise<Caller | undefined>>();
  private hits = 0;
  private misses = 0;

  constructor(
    private readonly lookup: AccessTokenLookup,
    private readonly declared: DeclaredTokens,
    /** The maximum number of accepted and of rejected tokens in memory. */
    capacity: number,
    /** Returns a monotonic time in milliseconds. */
    private readonly now: () => number = () => performance.now(),
  ) {
    super();
    this.accepted = new VerificationCache(capacity);
    this.rejected = new VerificationCache(capacity);
  }

  override async verify(token: string): Promise<Caller | undefined> {
    const digest = digestOf(token);
    const declared = this.declared.find(digest);
    if (declared || !hasTokenForm(token)) return declared;
    const key = digest.toString('latin1');
    const verification = this.accepted.get(key, this.now()) ?? this.rejected.get(key, this.now());
    if (verification) {
      this.hits++;
      return verification.caller;
    }
    this.misses++;
    return this.pending.get(key) ?? this.enqueue({ key, digest });
  }

  /** The number of verifications in memory, and of hits and misses since the start. */
  get cache(): { readonly size: number; readonly hits: number; readonly misses: number } {
    const { hits, misses } = this;
    return { size: this.accepted.size + this.rejected.size, hits, misses };
  }

  private enqueue(lookup: PendingLookup): Promise<Caller | undefined> {
    const result = this.lookups.add(lookup).finally(() => this.pending.delete(lookup.key));
    this.pending.set(lookup.key, result);
    return result;
  }

  private async lookUp(lookups: readonly PendingLookup[]): Promise<(Caller | undefined)[]> {
    // The lifetime starts before the statement, because a token may be revoked while it runs.
    const startedAt = this.now();
    const found = await this.lookup.find(lookups.map(({ digest }) => digest));
    return lookups.map(({ key }) => {
      const token = found.get(key);
      const lifetime = Math.min(VERIFICATION_LIFETIME_MS, token?.remainingMs ?? VERIFICATION_LIFETIME_MS);
      const cache = token ? this.accepted : this.rejected;
      cache.set(key, { caller: token?.caller, validUntil: startedAt + lifetime });
      return token?.caller;
    });
  }
}
