import { Injectable } from '@nestjs/common';
import { MetricsSource, type Meter } from '../../libs/measures/src/index.js';
import { AccessTokenVerifier } from './access-token.verifier.js';

/** Measures how often a verdict about a token was found in memory. */
@Injectable()
export class AccessTokenMeasures extends MetricsSource {
  constructor(private readonly verifier: AccessTokenVerifier) {
    super();
  }

  override registerMetrics(meter: Meter): void {
    meter.counter(
      'access_token_cache_hits_total',
      'Tokens whose verdict was remembered.',
      () => this.verifier.cache.hits,
    );
    meter.counter(
      'access_token_cache_misses_total',
      'Tokens whose verdict was not remembered, so that the database was asked.',
      () => this.verifier.cache.misses,
    );
    meter.gauge(
      'access_token_cache_entries',
      'Verdicts about tokens that are remembered.',
      () => this.verifier.cache.size,
    );
  }
}
