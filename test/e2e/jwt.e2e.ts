import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Issuer, type IssuerKey, makeKey } from '../support/issuer.js';
import { type Answer, create, list, LOG, refusal, send, TIME_LOGS } from '../support/requests.js';
import { type TestApp, useTestApp } from '../support/test-app.js';

const REALM = 'Bearer realm="time-logs"';
const refused = [
  401,
  `${REALM}, error="invalid_token"`,
  refusal('UNAUTHORIZED', 'a valid bearer token is required'),
];
const DECLARED = 'declared-token-of-32-characters-1';

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
const refusalIn = ({ status, headers, body }: Answer) => [status, headers.get('www-authenticate'), body];
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
let issuer: Issuer;
let keys: Record<'RS256' | 'EdDSA', IssuerKey>;

beforeAll(async () => {
  const [RS256, EdDSA] = await Promise.all([
    makeKey('RS256', 'key of RS256'),
    makeKey('EdDSA', 'key of EdDSA'),
  ]);
  keys = { RS256, EdDSA };
  issuer = await Issuer.start(...Object.values(keys));
});
afterAll(() => issuer.close());

/** Sends a token to every kind of route, and returns the answers. */
async function askEverywhere(app: TestApp, token: string): Promise<Answer[]> {
  const sending = bearer(token);
  return Promise.all([
    send(app, '/health', sending),
    list(app, '', sending),
    create(app, LOG, sending.headers),
    send(app, TIME_LOGS, { method: 'DELETE', ...sending }),
    send(app, '/nowhere', sending),
  ]);
}

async function expectRefused(app: TestApp, token: string): Promise<void> {
  expect(refusalIn(await list(app, '', bearer(token)))).toEqual(refused);
}

describe('a JWT in addition to access tokens', () => {
  const app = useTestApp(() => ({ jwt: issuer.settings, declaredTokens: [DECLARED] }));

  it.each(['RS256', 'EdDSA'] as const)('of %s is good on every route', async (alg) => {
    const token = await issuer.sign({}, { typ: 'at+jwt' }, keys[alg]);
    const answers = await askEverywhere(app, token);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 201, 405, 404]);
    expect(answers[0]!.text).toBe('OK');
  });

  it('is refused if signed by a key of somebody else, whatever it says of that key', async () => {
    const own = await makeKey('RS256', 'key of RS256');
    const jwksUrl = 'http://127.0.0.1:1/jwks';
    for (const header of [{}, { kid: 'unknown' }, { kid: undefined }, { jwk: own.jwk }, { jku: jwksUrl }])
      await expectRefused(app, await issuer.sign({}, header, own));
  });

  it('is refused, whatever garbage it is', async () => {
    const part = fc
      .base64String()
      .map((text) => text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', ''));
    const algorithm = fc.constantFrom('RS256', 'PS384', 'ES256', 'EdDSA', 'HS256', 'none', '__proto__');
    const known = Object.values(keys).map(({ jwk }) => jwk.kid);
    const kid = fc.constantFrom(...known, 'unknown', '__proto__', 1, null);
    const header = fc
      .record(
        { alg: fc.oneof(algorithm, fc.jsonValue()), kid, typ: fc.jsonValue(), crit: fc.jsonValue() },
        { requiredKeys: [] },
      )
      .map(encoded);
    const claims = fc.oneof(fc.jsonValue().map(encoded), part);
    const [good, payload, signature] = (await issuer.sign()).split('.') as [string, string, string];
    const token = fc
      .tuple(
        fc.oneof(part, header, fc.jsonValue().map(encoded), fc.constant(good)),
        fc.oneof(claims, fc.constant(payload)),
        fc.oneof(part, fc.constant(signature)),
      )
      .filter((parts) => parts.join('.') !== [good, payload, signature].join('.'));
    await fc.assert(
      fc.asyncProperty(token, async (parts) => {
        const answer = await list(app, '', bearer(parts.join('.')));
        expect(refusalIn(answer)).toEqual(refused);
      }),
      { numRuns: 100 },
    );
    for (const text of ['['.repeat(10_000), '{"alg":'.repeat(1_600), '"', '{"__proto__":{"alg":"none"}}'])
      await expectRefused(app, `${Buffer.from(text).toString('base64url')}.${payload}.${signature}`);
  });
});

describe('a JWT instead of access tokens', () => {
  const app = useTestApp(() => ({ jwt: issuer.settings, acceptsAccessTokens: false }));

  it('is good, and access tokens are not', async () => {
    const answers = await askEverywhere(app, await issuer.sign());
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 201, 405, 404]);
    for (const token of [app.token, `tl_${'x'.repeat(43)}`, 'x', 'a.b', 'a.b.c.d.e'])
      await expectRefused(app, token);
    const none = await send(app, '/health', { headers: { authorization: undefined } });
    expect([none.status, none.headers.get('www-authenticate')]).toEqual([401, REALM]);
  });
});

describe('a JWT where none are configured', () => {
  const app = useTestApp();

  it('is refused', async () => expectRefused(app, await issuer.sign()));
});
