import { type DynamicModule, Module } from '@nestjs/common';
import { DatabaseModule } from '../database/index.js';
import { AccessTokenLookup } from './access-token.lookup.js';
import { AccessTokenMeasures } from './access-token.measures.js';
import { AccessTokenService } from './access-token.service.js';
import { AccessTokenVerifier, DeclaredTokens } from './access-token.verifier.js';

export interface AccessTokenSettings {
  /** The tokens of the setting ACCESS_TOKEN, in addition to those in the database. */
  readonly declaredTokens: readonly string[];
  /** The scopes of the declared tokens, and of a new token if none are specified. */
  readonly defaultScopes: readonly string[];
  /** The maximum number of cached verifications. */
  readonly limits: { readonly tokenCache: number };
}

/** Provides AccessTokenService, which manages access tokens, and AccessTokenVerifier. */
@Module({})
export class AccessTokenModule {
  static forRoot({ declaredTokens, defaultScopes, limits }: AccessTokenSettings): DynamicModule {
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
            new AccessTokenVerifier(
              lookup,
              new DeclaredTokens(declaredTokens, defaultScopes),
              limits.tokenCache,
            ),
        },
      ],
      exports: [AccessTokenService, AccessTokenVerifier],
    };
  }
}
