import { type DynamicModule, Module } from '@nestjs/common';
import type * as Jose from 'jose';
import { type ExpectedClaims, JwtVerifier } from './jwt.verifier.js';
import { RemoteKeySet } from './remote-key-set.js';

const JOSE = Symbol('jose');

export interface JwtOptions extends ExpectedClaims {
  /** Where the issuer publishes its keys (RFC 7517): an https or http URL. */
  readonly jwksUrl: string;
  /** The most tokens whose verdict is kept in memory. */
  readonly cacheSize: number;
}

/** JWTs as bearer tokens. JwtVerifier checks them with the keys that their issuer publishes. */
@Module({})
export class JwtModule {
  static forRoot({ jwksUrl, cacheSize, ...claims }: JwtOptions): DynamicModule {
    return {
      module: JwtModule,
      providers: [
        // Loaded only here: it takes 30 ms, which a service without JWTs need not spend.
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
