import { Logger } from '@nestjs/common';
import { jwtVerify } from 'jose';
import { CachedVerifier, type Caller, type Verification } from '../../auth/src/index.js';
import { DomainError } from '../../errors/src/index.js';
import { attributesOf, claimOf, projectsOf, scopesOf } from './claims.js';
import type { IssuerKeys } from './issuer-keys.js';

/** Three parts in base64url with dots between (RFC 7515, section 7.1). The last may be empty. */
const JWT_FORM = /^[\w-]+\.[\w-]+\.[\w-]*$/;
/** Asymmetric algorithms only: a verifier with a shared secret could also make tokens. */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];
/** The `typ` of an access token (RFC 9068, section 2.1), or none. No other kind of JWT may pass. */
const ACCESS_TOKEN_TYPE = /^(application\/)?(at\+)?jwt$/i;
/** The maximum difference between the clocks of issuer and service. */
const CLOCK_TOLERANCE_SECONDS = 30;
/** The maximum number of characters of a subject (OpenID Connect Core, section 2). */
const MAX_SUBJECT_LENGTH = 255;

export interface ExpectedClaims {
  /** The exact value of `iss`. */
  readonly issuer: string;
  /** The value that the claim of the audience must be or contain. */
  readonly audience: string;
  /** The default is `aud`. */
  readonly audienceClaim?: string | undefined;
  /** The claims with scopes, of which the first that has any is used. The default is `scope`, `scp`. */
  readonly scopeClaims?: readonly string[] | undefined;
  /** The beginning that is removed from scopes. */
  readonly scopePrefix?: string | undefined;
  /** The claim with the projects of a caller; undefined if callers have all projects. */
  readonly projectsClaim?: string | undefined;
  /** The claims to whose values callers are bound, by attributes. Those with the scope of all logs are not. */
  readonly attributeClaims?: Readonly<Record<string, string>> | undefined;
}

/** The scope of callers that are not bound to attributes. */
const UNBOUND_SCOPE = 'time-logs:all';

/**
 * Verifies JWTs (RFC 7519) of one issuer. Ignores keys that a token names itself (`jwk`, `jku`,
 * `x5u`). If a token names no key (`kid`), exactly one key must match (OpenID Connect Core, section
 * 10.1). Refuses a token without `exp` or `sub`, and one with an unknown critical header (RFC 7515,
 * section 4.1.11). Logs at `debug` why it refuses a token. The transports limit the length of tokens.
 */
export class JwtVerifier extends CachedVerifier {
  private readonly logger = new Logger('JWT');

  constructor(
    private readonly keys: IssuerKeys,
    private readonly expected: ExpectedClaims,
    /** The maximum number of cached tokens. */
    capacity: number,
    /** Returns the Unix time in milliseconds. The claims use this clock. */
    private readonly now: () => number = () => Date.now(),
    /** Returns the milliseconds of a monotonic clock, by which cached tokens expire. */
    elapsed?: () => number,
  ) {
    super(capacity, elapsed);
  }

  protected override async lookUp(token: string): Promise<Verification | undefined> {
    if (!JWT_FORM.test(token)) {
      this.logRefusal('it is not three parts in base64url with dots between');
      return undefined;
    }
    const claims = await this.claimsOf(token);
    if (!claims) return undefined;
    const { issuer, scopeClaims = ['scope', 'scp'], scopePrefix = '' } = this.expected;
    const scopes = scopesOf(claims, scopeClaims, scopePrefix);
    if (scopes.length === 0)
      this.logger.debug(`a caller has no scopes: its JWT has none in ${scopeClaims.join(', ')}`);
    // The JSON of issuer and subject is unambiguous, and unlike the ids of other kinds of tokens.
    const id = JSON.stringify([issuer, claims.sub]);
    const caller = { id, scopes, ...this.boundsOf(claims, scopes) };
    return { caller, remainingMs: (claims.exp + CLOCK_TOLERANCE_SECONDS) * 1_000 - this.now() };
  }

  private boundsOf(claims: Claims, scopes: readonly string[]): Pick<Caller, 'projects' | 'attributes'> {
    const { projectsClaim, attributeClaims } = this.expected;
    const projects = projectsOf(claims, projectsClaim);
    if (attributeClaims === undefined || scopes.includes(UNBOUND_SCOPE)) return { projects };
    const attributes = attributesOf(claims, attributeClaims);
    if (typeof attributes !== 'string') return { projects, attributes };
    this.logger.debug(
      `a caller is bound to no project: the claim ${attributes} is no boolean, text of 1 to 255 characters or number up to ${Number.MAX_SAFE_INTEGER} in magnitude`,
    );
    return { projects: [] };
  }

  /** Returns the claims of a valid token; undefined for any other. */
  private async claimsOf(token: string): Promise<Claims | undefined> {
    try {
      const { payload, protectedHeader } = await jwtVerify<Claims>(
        token,
        (...header) => this.keys.find(...header),
        {
          issuer: this.expected.issuer,
          algorithms: ALGORITHMS,
          requiredClaims: ['exp', 'sub'],
          clockTolerance: CLOCK_TOLERANCE_SECONDS,
          currentDate: new Date(this.now()),
        },
      );
      const fault = this.faultOf(protectedHeader.typ, payload);
      if (fault === undefined) return payload;
      this.logRefusal(fault);
    } catch (error) {
      if (error instanceof DomainError) throw error;
      // Logs only the code and the claim: jose's messages and causes contain parts of the token.
      const { code, name, claim } = error as { code?: unknown; name: string; claim?: string };
      this.logRefusal([typeof code === 'string' ? code : name, claim].join(' ').trimEnd());
    }
    return undefined;
  }

  /** Returns what is wrong with a token whose signature, issuer and times are valid. */
  private faultOf(typ: unknown, claims: Claims): string | undefined {
    if (typ !== undefined && !(typeof typ === 'string' && ACCESS_TOKEN_TYPE.test(typ)))
      return 'its typ is not that of an access token';
    const { audience, audienceClaim = 'aud' } = this.expected;
    if (![claimOf(claims, audienceClaim)].flat().includes(audience))
      return `its ${audienceClaim} is not the expected audience`;
    const { sub } = claims;
    const isSubject = typeof sub === 'string' && sub !== '' && sub.length <= MAX_SUBJECT_LENGTH;
    return isSubject ? undefined : `its sub is not a string of 1 to ${MAX_SUBJECT_LENGTH} characters`;
  }

  /** Logs why a token is refused, to help set up the issuer and the service. */
  private logRefusal(reason: string): void {
    this.logger.debug(`JWT refused: ${reason}`);
  }
}

/** The claims after jose has verified them. */
interface Claims {
  readonly sub: unknown;
  readonly exp: number;
}
