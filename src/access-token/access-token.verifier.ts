import { Injectable } from '@nestjs/common';
import { type Principal, TokenVerifier } from '../../libs/auth/src/index.js';
import { DomainError, ERROR_KINDS } from '../../libs/errors/src/index.js';
import { AccessTokenLookup } from './access-token.lookup.js';
import { DeclaredTokens } from './declared-tokens.js';
import { digestOf, hasTokenForm } from './token-text.js';
import { VerdictCache } from './verdict-cache.js';

/** Milliseconds that a verdict holds: below the 5 s within which a revocation must hold everywhere. */
const VERDICT_LIFETIME = 4_000;
/** Verdicts remembered, good and bad ones apart, so that a flood of unknown tokens cannot push out a known one. */
const CAPACITY = 10_000;
/** Tokens looked up in one statement, and those that may wait for the next. */
const BATCH = 500;
const QUEUE = 5_000;

interface Waiter {
  readonly key: string;
  readonly digest: Buffer;
  readonly answer: Promise<Principal | undefined>;
  readonly resolve: (principal: Principal | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Verifies access tokens. At most one statement is under way at a time, for all tokens that wait: a flood of unknown
 * tokens costs the database one connection and memory a fixed amount.
 */
@Injectable()
export class AccessTokenVerifier extends TokenVerifier {
  private readonly good = new VerdictCache(CAPACITY);
  private readonly bad = new VerdictCache(CAPACITY);
  /** All that have no verdict yet, asked about or not; those not asked about yet stand in the queue too. */
  private readonly waiting = new Map<string, Waiter>();
  private readonly queue: Waiter[] = [];
  private isLookingUp = false;

  constructor(
    private readonly lookup: AccessTokenLookup,
    private readonly declared: DeclaredTokens,
    private readonly now: () => number,
  ) {
    super();
  }

  override async verify(token: string): Promise<Principal | undefined> {
    const digest = digestOf(token);
    const declared = this.declared.find(digest);
    if (declared || !hasTokenForm(token)) return declared;
    const key = digest.toString('latin1');
    const verdict = this.good.get(key, this.now()) ?? this.bad.get(key, this.now());
    return verdict ? verdict.principal : this.enqueue(key, digest);
  }

  private enqueue(key: string, digest: Buffer): Promise<Principal | undefined> {
    const waiter = this.waiting.get(key);
    if (waiter) return waiter.answer;
    if (this.queue.length >= QUEUE) {
      throw new DomainError('SERVICE_UNAVAILABLE', ERROR_KINDS.SERVICE_UNAVAILABLE.message);
    }
    let settle!: Pick<Waiter, 'resolve' | 'reject'>;
    const answer = new Promise<Principal | undefined>((resolve, reject) => (settle = { resolve, reject }));
    const newcomer = { key, digest, answer, ...settle };
    this.waiting.set(key, newcomer);
    this.queue.push(newcomer);
    if (!this.isLookingUp) void this.lookUpAll();
    return answer;
  }

  private async lookUpAll(): Promise<void> {
    this.isLookingUp = true;
    while (this.queue.length > 0) {
      const batch = this.queue.splice(0, BATCH);
      await this.lookUp(batch);
      for (const { key } of batch) this.waiting.delete(key);
    }
    this.isLookingUp = false;
  }

  private async lookUp(batch: readonly Waiter[]): Promise<void> {
    // The lifetime counts from before the statement: what it saw may be revoked while it runs.
    const asked = this.now();
    try {
      const found = await this.lookup.find(batch.map(({ digest }) => digest));
      for (const { key, resolve } of batch) {
        const token = found.get(key);
        const lifetime = Math.min(VERDICT_LIFETIME, token?.remaining ?? VERDICT_LIFETIME);
        const verdict = { principal: token?.principal, validUntil: asked + lifetime };
        (token ? this.good : this.bad).set(key, verdict);
        resolve(verdict.principal);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
