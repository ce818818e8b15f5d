import { type DynamicModule, Module } from '@nestjs/common';
import { DatabaseModule } from '../database/index.js';
import { AccessTokenLookup } from './access-token.lookup.js';
import { AccessTokenMeasures } from './access-token.measures.js';
import { AccessTokenService } from './access-token.service.js';
import { AccessTokenVerifier } from './access-token.verifier.js';
import { DeclaredTokens } from './declared-tokens.js';

export interface AccessTokenOptions {
  /** Tokens that the deployment declares itself, beside those in the database. */
  readonly declared: readonly string[];
  /** What those are good for. */
  readonly declaredScopes: readonly string[];
  /** Tokens whose verdict is remembered. */
  readonly cacheSize: number;
}

/** Access tokens: managed by the service, verified by the verifier. */
@Module({})
export class AccessTokenModule {
  static forRoot({ declared, declaredScopes, cacheSize }: AccessTokenOptions): DynamicModule {
    return {
      module: AccessTokenModule,
      // As AuthModule is, which asks the verifier.
      global: true,
      imports: [DatabaseModule],
      providers: [
        AccessTokenService,
        AccessTokenLookup,
        AccessTokenMeasures,
        {
          provide: AccessTokenVerifier,
          inject: [AccessTokenLookup],
          useFactory: (lookup: AccessTokenLookup) =>
            new AccessTokenVerifier(lookup, new DeclaredTokens(declared, declaredScopes), cacheSize),
        },
      ],
      exports: [AccessTokenService, AccessTokenVerifier],
    };
  }
}
