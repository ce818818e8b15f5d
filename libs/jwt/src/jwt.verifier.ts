import { hash } from 'node:crypto';
import { Logger } from '@nestjs/common';
import type * as Jose from 'jose';
import { type Caller, parseProjectBinding, TokenVerifier, VerificationCache } from '../../auth/src/index.js';
import { DomainError } from '../../errors/src/index.js';
import { hasJwtForm } from './jwt-form.js';
import type { RemoteKeySet } from './remote-key-set.js';

/** All are asymmetric: with a shared secret, whoever can verify a token could also make one. */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];
/** The `typ` of an access token (RFC 9068, section 2.1), or none. No other kind of JWT may pass. */
const TYPE = /^(application\/)?(at\+)?jwt$/i;
/** The most seconds that the clocks of issuer and service may differ. */
const CLOCK_TOLERANCE = 30;
/** The most characters of a token, and of a subject (OpenID Connect Core, section 2). */
const LONGEST = { token: 8_192, subject: 255 };
/** The most milliseconds that a good verdict is kept: verifying one takes as long as the rest of the request. */
const VERDICT_LIFETIME = 4_000;

export interface ExpectedClaims {
  /** The exact value that `iss` must have. */
  readonly issuer: string;
  /** The value that `aud` must have or hold. */
  readonly audience: string;
  /** The name of the claim with the projects that the caller is bound to; undefined: every caller has all. */
  readonly projectsClaim?: string | undefined;
}

/**
 * Verifies JWTs (RFC 7519) of one issuer. It ignores what a token says about its own key (`jwk`, `jku`, `x5u`). If a
 * token names no key (`kid`), exactly one key must fit (OpenID Connect Core, section 10.1). It refuses a token without
 * `exp` or `sub`, and one with an unknown critical header (RFC 7515, section 4.1.11).
 */
export class JwtVerifier extends TokenVerifier {
  private readonly logger = new Logger('JWT');
  private readonly verdicts: VerificationCache;

  constructor(
    private readonly jose: typeof Jose,
    private readonly keys: RemoteKeySet,
    private readonly expected: ExpectedClaims,
    /** The most verdicts in memory. */
    capacity: number,
    /** Milliseconds of Unix time, as in the claims. */
    private readonly now: () => number = () => Date.now(),
    /** Milliseconds of a clock that is never set. Verdicts age by it. */
    private readonly elapsed: () => number = () => performance.now(),
  ) {
    super();
    this.verdicts = new VerificationCache(capacity);
  }

  override async verify(token: string): Promise<Caller | undefined> {
    if (token.length > LONGEST.token || !hasJwtForm(token)) return undefined;
    const digest = hash('sha256', token, 'buffer').toString('latin1');
    const begun = this.elapsed();
    const verdict = this.verdicts.get(digest, begun);
    if (verdict) return verdict.caller;
    const claims = await this.claimsOf(token);
    if (!claims) return undefined;
    // As JSON each pair of issuer and subject has an id of its own, which no other kind of token can have.
    const id = JSON.stringify([this.expected.issuer, claims.sub]);
    const caller = {
      id,
      scopes: scopesOf(claims.scope ?? claims.scp),
      projects: projectsOf(claims, this.expected.projectsClaim),
    };
    const left = (claims.exp + CLOCK_TOLERANCE) * 1_000 - this.now();
    const validUntil = begun + Math.min(VERDICT_LIFETIME, left);
    this.verdicts.set(digest, { caller, validUntil });
    return caller;
  }

  /** The claims of a valid token; undefined for any other. */
  private async claimsOf(token: string): Promise<Claims | undefined> {
    const { issuer, audience } = this.expected;
    try {
      const { payload, protectedHeader } = await this.jose.jwtVerify<Claims>(
        token,
        (...header) => this.keys.find(...header),
        {
          issuer,
          audience,
          algorithms: ALGORITHMS,
          requiredClaims: ['exp', 'sub'],
          clockTolerance: CLOCK_TOLERANCE,
          currentDate: new Date(this.now()),
        },
      );
      const fault = faultOf(protectedHeader.typ, payload.sub);
      if (fault === undefined) return payload;
      this.noteRefusal(fault);
    } catch (error) {
      if (error instanceof DomainError) throw error;
      // Only the code and the name of the claim: jose's messages and causes hold parts of the token.
      const { code, name, claim } = error as { code?: unknown; name: string; claim?: string };
      this.noteRefusal([typeof code === 'string' ? code : name, claim].join(' ').trimEnd());
    }
    return undefined;
  }

  /** Helps whoever sets up issuer and service to see why a token is refused. */
  private noteRefusal(reason: string): void {
    this.logger.debug(`JWT refused: ${reason}`);
  }
}

/** The claims after jose has verified them. */
interface Claims {
  readonly sub: unknown;
  readonly exp: number;
  readonly scope?: unknown;
  readonly scp?: unknown;
  readonly [name: string]: unknown;
}

/** What is wrong with a token whose signature, issuer, audience and time are right. */
function faultOf(typ: unknown, sub: unknown): string | undefined {
  if (typ !== undefined && !(typeof typ === 'string' && TYPE.test(typ))) return 'its header has another typ';
  const isSubject = typeof sub === 'string' && sub !== '' && sub.length <= LONGEST.subject;
  return isSubject ? undefined : `its sub is no text of 1 to ${LONGEST.subject} characters`;
}

/** Scopes with spaces between them (RFC 8693, section 4.2), or a list of them, as some issuers send. */
function scopesOf(claim: unknown): readonly string[] {
  const names: unknown[] = typeof claim === 'string' ? claim.split(' ') : Array.isArray(claim) ? claim : [];
  return names.filter((name): name is string => typeof name === 'string' && name !== '');
}

/** UUIDs in an array; `["*"]` is for all. Whatever else the claim is, and none, is for no project. */
function projectsOf(claims: Claims, claim: string | undefined): readonly string[] | undefined {
  if (claim === undefined) return undefined;
  const given = claims[claim];
  const isForAll = Array.isArray(given) && given.length === 1 && given[0] === '*';
  return isForAll ? undefined : parseProjectBinding(given, `the claim ${claim}`);
}
