import { type DynamicModule, Module } from '@nestjs/common';
import type * as Jose from 'jose';
import { type ExpectedClaims, JwtVerifier } from './jwt.verifier.js';
import { RemoteKeySet } from './remote-key-set.js';

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
          provide: RemoteKeySet,
          inject: [JOSE],
          useFactory: (jose: typeof Jose) => new RemoteKeySet(jose, jwksUrl),
        },
        {
          provide: JwtVerifier,
          inject: [JOSE, RemoteKeySet],
          useFactory: (jose: typeof Jose, keys: RemoteKeySet) =>
            new JwtVerifier(jose, keys, claims, cacheSize),
        },
      ],
      exports: [JwtVerifier],
    };
  }
}
