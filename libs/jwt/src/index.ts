import { JwtModule, type JwtOptions } from './jwt.module.js';
import { hasJwtForm, JwtVerifier } from './jwt.verifier.js';

interface Settings {
  /** Undefined if no JWTs are accepted. */
  readonly jwt: Omit<JwtOptions, 'cacheSize'> | undefined;
  readonly limits: { readonly tokenCache: number };
}

/** The verifier of JWTs, as the service binds it. */
export const jwts = {
  bind: ({ jwt, limits }: Settings) => jwt && JwtModule.forRoot({ ...jwt, cacheSize: limits.tokenCache }),
  verifier: { provide: JwtVerifier, accepts: hasJwtForm },
};
