import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type * as Jose from 'jose';
import { DomainError } from '../../errors/src/index.js';
import { fetchJson } from './fetch-json.js';

/** Milliseconds. */
const TIMES = {
  /** Between two fetches: a key that the issuer withdraws is refused after that long. */
  refresh: 300_000,
  /**
   * How long keys are good while the issuer cannot be asked: longer than a token usually lives, so that its outage costs
   * nobody who has one; and no longer, since a key that was withdrawn must not be kept alive by cutting us off.
   */
  keep: 86_400_000,
  /** Before another unknown key is a reason to fetch: a flood of them is no flood at the issuer. */
  pause: 5_000,
  /** The same after a fetch that failed. */
  pauseAfterFailure: 1_000,
};

type Key = Awaited<ReturnType<Jose.JWTVerifyGetKey>>;

/**
 * The keys that an issuer publishes as a JSON Web Key Set (RFC 7517): fetched at the start and every five minutes, and
 * when a token names a key that is not among them. One fetch is under way at a time, for all who wait.
 */
export class RemoteKeySet implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('JWT');
  private keys: { readonly find: Jose.JWTVerifyGetKey; readonly fetchedAt: number } | undefined;
  private fetching: Promise<void> | undefined;
  /** When the last fetch ended, and why it failed, if it did. */
  private last: { readonly at: number; readonly failure?: string } | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly jose: typeof Jose,
    private readonly url: string,
    /** Milliseconds of a clock that is never set. */
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Waits for nothing: the service starts also where the issuer is away. */
  onModuleInit(): void {
    void this.refresh();
    this.timer = setInterval(() => void this.refresh(), TIMES.refresh).unref();
  }

  /** Not before the drain: requests are served until then. */
  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /**
   * The key for a token with this header. Throws JWKSNoMatchingKey where the issuer has none, DomainError
   * SERVICE_UNAVAILABLE where none is known and the issuer cannot be asked.
   */
  async find(...header: Parameters<Jose.JWTVerifyGetKey>): Promise<Key> {
    const known = await this.known(header);
    if (known) return known;
    if (this.fetching || this.isRested()) await this.refresh();
    const fetched = await this.known(header);
    if (fetched) return fetched;
    if (this.last?.failure === undefined) throw new this.jose.errors.JWKSNoMatchingKey();
    throw new DomainError(
      'SERVICE_UNAVAILABLE',
      'the keys of the token issuer are unavailable at the moment; retry later',
    );
  }

  private async known(header: Parameters<Jose.JWTVerifyGetKey>): Promise<Key | undefined> {
    if (!this.keys || this.now() - this.keys.fetchedAt >= TIMES.keep) return undefined;
    try {
      return await this.keys.find(...header);
    } catch (error) {
      if (error instanceof this.jose.errors.JWKSNoMatchingKey) return undefined;
      throw error;
    }
  }

  private isRested(): boolean {
    if (!this.last) return true;
    const pause = this.last.failure === undefined ? TIMES.pause : TIMES.pauseAfterFailure;
    return this.now() - this.last.at >= pause;
  }

  /** Never fails: the keys that were there stay. */
  private refresh(): Promise<void> {
    this.fetching ??= this.fetch().finally(() => (this.fetching = undefined));
    return this.fetching;
  }

  private async fetch(): Promise<void> {
    const before = this.last?.failure;
    try {
      const find = this.jose.createLocalJWKSet((await fetchJson(this.url)) as Jose.JSONWebKeySet);
      this.keys = { find, fetchedAt: this.now() };
      this.last = { at: this.now() };
      if (before !== undefined) this.logger.log('the keys of the token issuer can be fetched again');
    } catch (error) {
      const failure = error instanceof Error ? error.message : 'unknown';
      this.last = { at: this.now(), failure };
      if (failure !== before) this.logger.warn(`the keys of the token issuer cannot be fetched: ${failure}`);
    }
  }
}
