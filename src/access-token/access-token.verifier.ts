import { Injectable } from '@nestjs/common';
import { type Principal, TokenVerifier, VerdictCache } from '../../libs/auth/src/index.js';
import { Batcher } from '../../libs/batching/src/index.js';
import { AccessTokenLookup } from './access-token.lookup.js';
import { DeclaredTokens } from './declared-tokens.js';
import { digestOf, hasTokenForm } from './token-text.js';

/** Milliseconds that a verdict holds: below the 5 s within which a revocation must hold everywhere. */
const VERDICT_LIFETIME = 4_000;
/** Tokens looked up in one statement, those that may wait for the next, and for how many milliseconds. */
const LOOKUPS = { batch: 500, queue: 5_000, wait: 5_000 };

interface Asked {
  readonly key: string;
  readonly digest: Buffer;
}

/**
 * Verifies access tokens. At most one statement is under way at a time, for all tokens that wait: a flood of unknown
 * tokens costs the database one connection and memory a fixed amount.
 */
@Injectable()
export class AccessTokenVerifier extends TokenVerifier {
  private readonly good: VerdictCache;
  private readonly bad: VerdictCache;
  private readonly lookups = new Batcher((asked: readonly Asked[]) => this.lookUp(asked), LOOKUPS);
  /** The answers that are awaited, each for all who ask for the same token. */
  private readonly answers = new Map<string, Promise<Principal | undefined>>();
  private hits = 0;
  private misses = 0;

  constructor(
    private readonly lookup: AccessTokenLookup,
    private readonly declared: DeclaredTokens,
    /** Verdicts remembered, good and bad ones apart, so that a flood of unknown tokens cannot push out a known one. */
    capacity: number,
    /** Milliseconds. */
    private readonly now: () => number = () => performance.now(),
  ) {
    super();
    this.good = new VerdictCache(capacity);
    this.bad = new VerdictCache(capacity);
  }

  override async verify(token: string): Promise<Principal | undefined> {
    const digest = digestOf(token);
    const declared = this.declared.find(digest);
    if (declared || !hasTokenForm(token)) return declared;
    const key = digest.toString('latin1');
    const verdict = this.good.get(key, this.now()) ?? this.bad.get(key, this.now());
    if (verdict) {
      this.hits++;
      return verdict.principal;
    }
    this.misses++;
    return this.answers.get(key) ?? this.ask({ key, digest });
  }

  /** Verdicts that are remembered; how often one was, and was not, since the start. */
  get cache(): { readonly size: number; readonly hits: number; readonly misses: number } {
    const { hits, misses } = this;
    return { size: this.good.size + this.bad.size, hits, misses };
  }

  private ask(asked: Asked): Promise<Principal | undefined> {
    const answer = this.lookups.add(asked).finally(() => this.answers.delete(asked.key));
    this.answers.set(asked.key, answer);
    return answer;
  }

  private async lookUp(asked: readonly Asked[]): Promise<(Principal | undefined)[]> {
    // The lifetime counts from before the statement: what it saw may be revoked while it runs.
    const begun = this.now();
    const found = await this.lookup.find(asked.map(({ digest }) => digest));
    return asked.map(({ key }) => {
      const token = found.get(key);
      const lifetime = Math.min(VERDICT_LIFETIME, token?.remaining ?? VERDICT_LIFETIME);
      (token ? this.good : this.bad).set(key, { principal: token?.principal, validUntil: begun + lifetime });
      return token?.principal;
    });
  }
}
