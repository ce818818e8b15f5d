import { Injectable } from '@nestjs/common';
import { MetricsSource, type Meter } from '../../libs/measures/src/index.js';
import { AccessTokenVerifier } from './access-token.verifier.js';

/** Measures how often the verification of a token is cached. */
@Injectable()
export class AccessTokenMeasures extends MetricsSource {
  constructor(private readonly verifier: AccessTokenVerifier) {
    super();
  }

  override registerMetrics(meter: Meter): void {
    meter.counter(
      'access_token_cache_hits_total',
      'Tokens whose verification was cached.',
      () => this.verifier.cache.hits,
    );
    meter.counter(
      'access_token_cache_misses_total',
      'Tokens whose verification was not cached, so that the database was queried.',
      () => this.verifier.cache.misses,
    );
    meter.gauge(
      'access_token_cache_entries',
      'Cached verifications of tokens.',
      () => this.verifier.cache.size,
    );
  }
}
