import { type DynamicModule, Module } from '@nestjs/common';
import { DatabaseModule } from '../database/index.js';
import { AccessTokenLookup } from './access-token.lookup.js';
import { AccessTokenMeasures } from './access-token.measures.js';
import { AccessTokenService } from './access-token.service.js';
import { AccessTokenVerifier, DeclaredTokens } from './access-token.verifier.js';

export interface AccessTokenOptions {
  /** The tokens of the setting ACCESS_TOKEN, in addition to those in the database. */
  readonly declared: readonly string[];
  /** The scopes of the declared tokens. */
  readonly declaredScopes: readonly string[];
  /** The maximum number of cached verifications. */
  readonly cacheSize: number;
}

/** Provides AccessTokenService, which manages access tokens, and AccessTokenVerifier. */
@Module({})
export class AccessTokenModule {
  static forRoot({ declared, declaredScopes, cacheSize }: AccessTokenOptions): DynamicModule {
    return {
      module: AccessTokenModule,
      // BearerAuthModule is global too, and it needs the verifier.
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
