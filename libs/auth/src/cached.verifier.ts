import { LRUCache } from 'lru-cache';
import { type BearerAuthOptions, TokenVerifier } from './bearer-auth.options.js';
import type { Caller } from './caller.js';

/** The time for which a verification is cached. A revocation must take effect everywhere within 5 seconds. */
const VERIFICATION_LIFETIME_MS = 4_000;

/** The outcome of the verification of a valid token. */
export interface Verification {
  readonly caller: Caller;
  /** The time until the token expires; undefined if it never does. */
  readonly remainingMs?: number | undefined;
}

/** A verifier that caches callers by the texts of their tokens. All requests with a token share one verification. */
export abstract class CachedVerifier extends TokenVerifier {
  private readonly callers: LRUCache<string, Caller>;
  private readonly pending = new Map<string, Promise<Caller | undefined>>();
  /** The number of verifications from memory. */
  protected hits = 0;

  constructor(
    /** The maximum number of cached tokens. */
    capacity: number,
    /** Returns a monotonic time in milliseconds. */
    protected readonly elapsed: () => number = () => performance.now(),
  ) {
    super();
    // Texts are secrets, so they are forgotten as soon as they expire.
    this.callers = new LRUCache({
      max: capacity,
      ttl: VERIFICATION_LIFETIME_MS,
      ttlAutopurge: true,
      ttlResolution: 0,
      perf: { now: elapsed },
    });
  }

  /** The number of cached tokens. */
  get size(): number {
    return this.callers.size;
  }

  /** Returns the caller of a token that was verified in the last seconds. */
  known(token: string): Caller | undefined {
    const caller = this.callers.get(token);
    if (caller) this.hits++;
    return caller;
  }

  override verify(token: string): Promise<Caller | undefined> {
    const pending =
      this.pending.get(token) ?? this.verifyOnce(token).finally(() => this.pending.delete(token));
    this.pending.set(token, pending);
    return pending;
  }

  /** Verifies a token that is not cached. Returns undefined if it is not valid. */
  protected abstract lookUp(token: string): Promise<Verification | undefined>;

  private async verifyOnce(token: string): Promise<Caller | undefined> {
    // The lifetime starts before the lookup, because a token may be revoked while it runs.
    const startedAt = this.elapsed();
    const verification = await this.lookUp(token);
    if (!verification) return undefined;
    const { caller, remainingMs = Infinity } = verification;
    const ttl = Math.min(VERIFICATION_LIFETIME_MS, remainingMs) - (this.elapsed() - startedAt);
    // For lru-cache 0 means forever.
    if (ttl > 0) this.callers.set(token, caller, { ttl });
    return caller;
  }
}

/** Returns the options for tokens of several issuers: the first verifier that knows a token decides. */
export function anyVerifier(
  verifiers: readonly CachedVerifier[],
): Pick<BearerAuthOptions, 'known' | 'verifier'> {
  return {
    known: (token) => {
      for (const verifier of verifiers) {
        const caller = verifier.known(token);
        if (caller) return caller;
      }
      return undefined;
    },
    verifier: {
      verify: async (token) => {
        for (const verifier of verifiers) {
          const caller = await verifier.verify(token);
          if (caller) return caller;
        }
        return undefined;
      },
    },
  };
}
