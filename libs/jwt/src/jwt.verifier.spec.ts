import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import * as jose from 'jose';
import { type Claims, type IssuerKey, makeKey } from '../../../test/support/issuer.js';
import { DomainError } from '../../errors/src/index.js';
import { type ExpectedClaims, JwtVerifier } from './jwt.verifier.js';
import { IssuerKeys } from './issuer-keys.js';

const ISSUER = 'https://issuer.example';
/** The Unix time, in seconds, at which the tokens are verified. */
const NOW = 1_800_000_000;

/** Has its keys from the start, and counts the lookups. */
class FakeKeySet extends IssuerKeys {
  lookups = 0;
  isUnavailable = false;
  private readonly local: ReturnType<typeof jose.createLocalJWKSet>;

  constructor(...keys: IssuerKey[]) {
    super(ISSUER);
    this.local = jose.createLocalJWKSet({ keys: keys.map(({ jwk }) => jwk) });
  }

  override async find(...header: Parameters<jose.JWTVerifyGetKey>) {
    this.lookups++;
    if (this.isUnavailable) throw new DomainError('SERVICE_UNAVAILABLE', 'unavailable');
    return this.local(...header);
  }
}

describe('JwtVerifier', () => {
  let key: IssuerKey;
  let keys: FakeKeySet;
  let now: number;
  let verifier: JwtVerifier;
  /** The lines of the log at level `debug`. */
  let lines: unknown[];

  beforeAll(async () => {
    key = await makeKey('ES256', 'a');
  });
  beforeEach(() => {
    lines = [];
    const ignore = () => undefined;
    Logger.overrideLogger({ debug: (line) => lines.push(line), log: ignore, warn: ignore, error: ignore });
    keys = new FakeKeySet(key);
    now = NOW * 1_000;
    verifier = newVerifier();
  });

  const newVerifier = (keySet = keys, expected: Partial<ExpectedClaims> = {}) => {
    const clock = () => now;
    return new JwtVerifier(keySet, { issuer: ISSUER, audience: 'api', ...expected }, 10, clock, clock);
  };

  const sign = (claims: Claims = {}, header: object = {}) =>
    new jose.SignJWT({ iss: ISSUER, aud: 'api', sub: 'ada', exp: NOW + 300, ...claims })
      .setProtectedHeader({ alg: 'ES256', kid: 'a', ...header })
      .sign(key.privateKey);
  const verify = async (claims: Claims = {}, header: object = {}) =>
    verifier.verify(await sign(claims, header));
  /** Verifies a token as the guard does. */
  const check = async (token: string) => verifier.known(token) ?? verifier.verify(token);

  describe('returns a caller', () => {
    it('whose id is made of issuer and subject, with any characters', async () => {
      expect(await verify()).toEqual({ id: '["https://issuer.example","ada"]', scopes: [] });
      const odd = ['","', '"', '\\', '\0', '\ud800', 'é', ' ', 'declared:x', 'x'.repeat(255)];
      const ids = await Promise.all(odd.map(async (sub) => (await verify({ sub }))!.id!));
      expect(ids.map((id) => JSON.parse(id) as unknown)).toEqual(odd.map((sub) => [ISSUER, sub]));
      // Well-formed ids without U+0000 can be stored anywhere.
      for (const id of ids) expect([id.isWellFormed(), id.includes('\0')]).toEqual([true, false]);
    });

    it('with the scopes of scope or scp, or logs that it has none', async () => {
      expect(await verify({ scope: 'read', scp: ['write'] })).toMatchObject({ scopes: ['read'] });
      expect(await verify({ scope: '', scp: ['write'] })).toMatchObject({ scopes: ['write'] });
      expect(lines).toEqual([]);
      expect(await verify({ roles: ['read'] })).toMatchObject({ scopes: [] });
      expect(lines).toEqual(['a caller has no scopes: its JWT has none in scope, scp']);
    });

    it('with the scopes and projects of other claims, for another claim of the audience', async () => {
      const project = '11111111-1111-1111-1111-111111111111';
      verifier = newVerifier(keys, {
        audienceClaim: 'client_id',
        scopeClaims: ['a.roles', 'roles'],
        scopePrefix: 'api/',
        projectsClaim: 'projects',
      });
      const claims = { aud: undefined, client_id: 'api', a: { roles: ['api/read', 'write'] } };
      const [caller, unbound] = [await verify({ ...claims, projects: [project] }), await verify(claims)];
      expect(caller).toMatchObject({ scopes: ['read', 'write'], projects: [project] });
      expect(unbound!.projects).toEqual([]);
      expect(await verify({ ...claims, client_id: 'other' })).toBeUndefined();
      expect(await verify({ ...claims, client_id: undefined, aud: 'api' })).toBeUndefined();
      expect(lines).toEqual([
        'a caller is bound to no project: the claim projects is missing',
        ...Array<string>(2).fill('JWT refused: its client_id is not the expected audience'),
      ]);
    });

    it('with the attributes of claims, or bound to no project if one of them cannot bind', async () => {
      verifier = newVerifier(keys, { attributeClaims: { userId: 'sub', team: 'org.team' } });
      const boundsOf = async (claims: Claims) => {
        const { projects, attributes } = (await verify(claims))!;
        return { projects, attributes };
      };
      for (const team of ['sales', 1.5, false, Number.MIN_SAFE_INTEGER])
        expect(await boundsOf({ org: { team } })).toEqual({ attributes: { userId: 'ada', team } });
      for (const team of [undefined, null, '', 'x'.repeat(256), ['sales'], {}, 'a\0b', 2 ** 53])
        expect(await boundsOf({ org: { team } })).toEqual({ projects: [] });
      expect(lines.filter((line) => String(line).includes('bound'))).toEqual(
        Array<string>(8).fill(
          'a caller is bound to no project: the claim org.team is no boolean, text of 1 to 255 characters or number up to 9007199254740991 in magnitude',
        ),
      );
      expect(await boundsOf({ scope: 'read time-logs:all' })).toEqual({});
    });

    it('for a token without kid and a key without use, if exactly one key matches', async () => {
      const plain = { ...key, jwk: await jose.exportJWK(key.publicKey) };
      const token = await sign({}, { kid: undefined });
      expect(await newVerifier(new FakeKeySet(plain)).verify(token)).toBeDefined();
      const two = new FakeKeySet(plain, await makeKey('ES256', 'b'));
      expect(await newVerifier(two).verify(token)).toBeUndefined();
    });

    it.each([undefined, 'JWT', 'at+jwt', 'application/AT+JWT'])('for a token of the type %p', async (typ) => {
      expect(await verify({}, { typ })).toBeDefined();
    });

    it('for a token of several audiences', async () => {
      expect(await verify({ aud: ['other', 'api'] })).toBeDefined();
    });

    it('for a token of a clock that differs by less than 30 seconds', async () => {
      expect(await verify({ exp: NOW - 29 })).toBeDefined();
      expect(await verify({ nbf: NOW + 30 })).toBeDefined();
    });
  });

  const INVALID_CLAIMS: Record<string, readonly unknown[]> = {
    exp: [NOW - 30, undefined],
    nbf: [NOW + 31],
    sub: [undefined, '', 7, 'x'.repeat(256)],
    iss: [undefined, `${ISSUER}/`],
    aud: [undefined, 'API', ['other'], [['api']]],
  };
  it.each(
    Object.entries(INVALID_CLAIMS).flatMap(([claim, values]) => values.map((value) => ({ [claim]: value }))),
  )('refuses a token of %j, and logs why', async (claims) => {
    expect(await verify(claims)).toBeUndefined();
    const [claim] = Object.keys(claims);
    expect(lines).toEqual([expect.stringMatching(`^JWT refused: (its|ERR_JWT_\\w+) ${claim}( |$)`)]);
  });

  it.each([[{ typ: 'logout+jwt' }, { typ: '' }, { typ: ['at+jwt'] }, { kid: 'b' }, { kid: '' }]].flat())(
    'refuses a token whose header has %j, and logs why',
    async (header) => {
      expect(await verify({}, header)).toBeUndefined();
      expect(lines).toEqual([expect.stringMatching(/^JWT refused: (its typ |ERR_JWKS_NO_MATCHING_KEY$)/)]);
    },
  );

  it('refuses a critical header and other algorithms, before it looks up a key', async () => {
    const [, payload, signature] = (await sign()).split('.');
    const others = ['HS256', 'none', 'None', '', 'ML-DSA-44', 7].map((alg) => ({ alg }));
    for (const more of [{ crit: ['x'], x: 1 }, { crit: ['exp'], exp: NOW }, { crit: [] }, ...others]) {
      const header = Buffer.from(JSON.stringify({ alg: 'ES256', kid: 'a', ...more })).toString('base64url');
      expect(await verifier.verify([header, payload, signature].join('.'))).toBeUndefined();
    }
    expect(keys.lookups).toBe(0);
  });

  it('refuses a token that is not a JWT, before it looks up a key, and logs why', async () => {
    const texts = ['', 'a.b', `${await sign()}.x`, `${await sign()}=`];
    for (const text of [...texts, 'a.b.c']) expect(await verifier.verify(text)).toBeUndefined();
    expect(keys.lookups).toBe(0);
    const form = 'JWT refused: it is not three parts in base64url with dots between';
    expect(lines).toEqual([...texts.map(() => form), 'JWT refused: ERR_JWS_INVALID']);
  });

  it('rejects if the key set is unavailable', async () => {
    keys.isUnavailable = true;
    await expect(verify()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });

  describe('caches a valid token', () => {
    it('for 4 seconds', async () => {
      const token = await sign();
      const caller = await check(token);
      now += 4_000;
      expect(await check(token)).toBe(caller);
      expect(keys.lookups).toBe(1);
      now += 1;
      expect(await check(token)).toEqual(caller);
      expect(keys.lookups).toBe(2);
    });

    it('no longer than the token is valid', async () => {
      const token = await sign({ exp: NOW - 28 });
      expect(await check(token)).toBeDefined();
      now += 2_000;
      expect(await check(token)).toBeDefined();
      now += 1;
      expect(await check(token)).toBeUndefined();
    });

    it('by the whole token', async () => {
      const token = await sign();
      await check(token);
      const [header, payload, signature] = token.split('.') as [string, string, string];
      const other = Buffer.from(JSON.stringify({ iss: ISSUER, aud: 'api', sub: 'eve', exp: NOW + 300 }));
      expect(await check(`${header}.${other.toString('base64url')}.${signature}`)).toBeUndefined();
      expect(await check(`${header}.${payload}.${signature.slice(1)}`)).toBeUndefined();
      expect(await check(`${header}.${payload}.`)).toBeUndefined();
    });
  });
});
