import { Injectable } from '@nestjs/common';
import { type Caller, TokenVerifier, VerificationCache } from '../../libs/auth/src/index.js';
import { Batcher } from '../../libs/batching/src/index.js';
import { AccessTokenLookup } from './access-token.lookup.js';
import { DeclaredTokens } from './declared-tokens.js';
import { digestOf, hasTokenForm } from './token-text.js';

/** Milliseconds that a verdict is kept: less than the 5 s within which a revocation must work everywhere. */
const VERDICT_LIFETIME = 4_000;
/** The most tokens in one statement, the most that wait for one, and for how many milliseconds. */
const LOOKUPS = { batch: 500, queue: 5_000, wait: 5_000 };

interface Asked {
  readonly key: string;
  readonly digest: Buffer;
}

/**
 * Verifies access tokens. Only one statement is under way at a time, for many tokens. So a flood of unknown
 * tokens costs the database one connection, and the memory it takes has a limit.
 */
@Injectable()
export class AccessTokenVerifier extends TokenVerifier {
  private readonly good: VerificationCache;
  private readonly bad: VerificationCache;
  private readonly lookups = new Batcher((asked: readonly Asked[]) => this.lookUp(asked), LOOKUPS);
  /** Lookups under way. All requests with the same token share one. */
  private readonly answers = new Map<string, Promise<Caller | undefined>>();
  private hits = 0;
  private misses = 0;

  constructor(
    private readonly lookup: AccessTokenLookup,
    private readonly declared: DeclaredTokens,
    /**
     * The most verdicts in memory. Good and bad ones are kept apart: a flood of unknown tokens pushes out no known one.
     */
    capacity: number,
    /** Milliseconds. */
    private readonly now: () => number = () => performance.now(),
  ) {
    super();
    this.good = new VerificationCache(capacity);
    this.bad = new VerificationCache(capacity);
  }

  override async verify(token: string): Promise<Caller | undefined> {
    const digest = digestOf(token);
    const declared = this.declared.find(digest);
    if (declared || !hasTokenForm(token)) return declared;
    const key = digest.toString('latin1');
    const verdict = this.good.get(key, this.now()) ?? this.bad.get(key, this.now());
    if (verdict) {
      this.hits++;
      return verdict.caller;
    }
    this.misses++;
    return this.answers.get(key) ?? this.ask({ key, digest });
  }

  /** Verdicts in memory, and how often one was found there, or not, since the start. */
  get cache(): { readonly size: number; readonly hits: number; readonly misses: number } {
    const { hits, misses } = this;
    return { size: this.good.size + this.bad.size, hits, misses };
  }

  private ask(asked: Asked): Promise<Caller | undefined> {
    const answer = this.lookups.add(asked).finally(() => this.answers.delete(asked.key));
    this.answers.set(asked.key, answer);
    return answer;
  }

  private async lookUp(asked: readonly Asked[]): Promise<(Caller | undefined)[]> {
    // The lifetime counts from before the statement: a token may be revoked while it runs.
    const begun = this.now();
    const found = await this.lookup.find(asked.map(({ digest }) => digest));
    return asked.map(({ key }) => {
      const token = found.get(key);
      const lifetime = Math.min(VERDICT_LIFETIME, token?.remaining ?? VERDICT_LIFETIME);
      (token ? this.good : this.bad).set(key, { caller: token?.caller, validUntil: begun + lifetime });
      return token?.caller;
    });
  }
}
