import { type DynamicModule, Module } from '@nestjs/common';
import type * as Jose from 'jose';
import { type ExpectedClaims, JwtVerifier } from './jwt.verifier.js';
import { IssuerKeys } from './issuer-keys.js';

const JOSE = Symbol('jose');

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
        // Loading jose takes 30 ms, so a service without JWTs does not load it.
        { provide: JOSE, useFactory: () => import('jose') },
        {
          provide: IssuerKeys,
          inject: [JOSE],
          useFactory: (jose: typeof Jose) => new IssuerKeys(jose, jwksUrl),
        },
        {
          provide: JwtVerifier,
          inject: [JOSE, IssuerKeys],
          useFactory: (jose: typeof Jose, keys: IssuerKeys) => new JwtVerifier(jose, keys, claims, cacheSize),
        },
      ],
      exports: [JwtVerifier],
    };
  }
}
