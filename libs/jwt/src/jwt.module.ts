import { type DynamicModule, Module } from '@nestjs/common';
import { IssuerKeys } from './issuer-keys.js';
import { type ExpectedClaims, JwtVerifier } from './jwt.verifier.js';

export interface JwtOptions extends ExpectedClaims {
  /** The https or http URL of the keys of the issuer (RFC 7517). */
  readonly jwksUrl: string;
  /** The maximum number of cached tokens. */
  readonly cacheSize: number;
}

/** Provides JwtVerifier, which verifies JWTs with the keys that their issuer publishes. */
@Module({})
export class JwtModule {
  static forRoot({ jwksUrl, cacheSize, ...claims }: JwtOptions): DynamicModule {
    return {
      module: JwtModule,
      providers: [
        { provide: IssuerKeys, useFactory: () => new IssuerKeys(jwksUrl) },
        {
          provide: JwtVerifier,
          inject: [IssuerKeys],
          useFactory: (keys: IssuerKeys) => new JwtVerifier(keys, claims, cacheSize),
        },
      ],
      exports: [JwtVerifier],
    };
  }
}
