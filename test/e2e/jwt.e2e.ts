import { generateKeyPairSync, sign as signBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { useClock } from '../support/clock.js';
import { loadConfig } from '../support/compiled.js';
import { Issuer, type IssuerKey, makeKey, MISBEHAVIOURS } from '../support/issuer.js';
import { type Answer, create, list, LOG, outcome, refusal, send, TIME_LOGS } from '../support/requests.js';
import { startTestApp, type TestApp, useTestApp } from '../support/test-app.js';

const REALM = 'Bearer realm="time-logs"';
const refused = [
  401,
  `${REALM}, error="invalid_token"`,
  refusal('UNAUTHORIZED', 'a valid bearer token is required'),
];
const unavailable = [
  503,
  refusal('SERVICE_UNAVAILABLE', 'the keys of the token issuer are unavailable at the moment; retry later'),
];
const DECLARED = 'declared-token-of-32-characters-1';

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
const refusalIn = ({ status, headers, body }: Answer) => [status, headers.get('www-authenticate'), body];
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

const clock = useClock();
let issuer: Issuer;
let keys: Record<'RS256' | 'PS256' | 'ES256' | 'EdDSA', IssuerKey>;

beforeAll(async () => {
  const [RS256, PS256, ES256, EdDSA] = await Promise.all(
    ['RS256', 'PS256', 'ES256', 'EdDSA'].map((alg) => makeKey(alg, `key of ${alg}`)),
  );
  keys = { RS256: RS256!, PS256: PS256!, ES256: ES256!, EdDSA: EdDSA! };
  issuer = await Issuer.start(...Object.values(keys));
});
afterAll(() => issuer.close());

/** What a token gets on every kind of route. */
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

describe('a JWT beside access tokens', () => {
  const app = useTestApp(() => ({ jwt: issuer.settings, declaredTokens: [DECLARED] }));

  it.each(['RS256', 'PS256', 'ES256', 'EdDSA'] as const)('of %s is good on every route', async (alg) => {
    const token = await issuer.sign({}, { typ: 'at+jwt' }, keys[alg]);
    const answers = await askEverywhere(app, token);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 201, 405, 404]);
    expect(answers[0]!.text).toBe('OK');
  });

  it('leaves access tokens as good as they were', async () => {
    for (const token of [app.token, DECLARED]) {
      const answers = await askEverywhere(app, token);
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 201, 405, 404]);
    }
    await expectRefused(app, `tl_${'x'.repeat(43)}`);
  });

  it('has its scopes, and no other', async () => {
    const sending = bearer(await issuer.sign({ scope: 'time-logs:read' }));
    expect((await list(app, '', sending)).status).toBe(200);
    expect(refusalIn(await create(app, LOG, sending.headers))).toEqual([
      403,
      `${REALM}, error="insufficient_scope", scope="time-logs:write"`,
      refusal('FORBIDDEN', 'the token lacks the scope time-logs:write'),
    ]);
  });

  it('may be as long as the headers, which are limited to 16 KiB in all', async () => {
    const token = (length: number) => issuer.sign({ groups: ['x'.repeat(length)] });
    const long = await token(11_500);
    expect(long.length).toBeGreaterThan(15_500);
    expect((await create(app, LOG, bearer(long).headers)).status).toBe(201);
    expect((await list(app, '', bearer(await token(12_500)))).status).toBe(431);
  });

  describe('is refused', () => {
    it('signed by a key of somebody else, whatever it says of that key', async () => {
      const own = await makeKey('RS256', 'key of RS256');
      const jwksUrl = 'http://127.0.0.1:1/jwks';
      for (const header of [{}, { kid: 'unknown' }, { kid: undefined }, { jwk: own.jwk }, { jku: jwksUrl }]) {
        await expectRefused(app, await issuer.sign({}, header, own));
      }
    });

    it('signed by the right key under another name', async () => {
      await expectRefused(app, await issuer.sign({}, { kid: 'key of PS256' }, keys.RS256));
      await expectRefused(app, await issuer.sign({}, { kid: 'unknown' }, keys.RS256));
    });

    it('signed by the right key in another way', async () => {
      const [, payload] = (await issuer.sign()).split('.');
      const text = `${encoded({ alg: 'RS512', kid: 'key of RS256' })}.${payload}`;
      const key = await crypto.subtle.exportKey('pkcs8', keys.RS256.privateKey);
      const signer = { key: Buffer.from(key), format: 'der', type: 'pkcs8' } as const;
      const signature = signBytes('sha512', Buffer.from(text), signer);
      await expectRefused(app, `${text}.${signature.toString('base64url')}`);
    });

    it('with a key too weak, or not for signatures', async () => {
      const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 1_024 });
      const jwk = { ...publicKey.export({ format: 'jwk' }), alg: 'RS256' };
      const text = `${encoded({ alg: 'RS256', kid: 'weak' })}.${(await issuer.sign()).split('.')[1]}`;
      const weak = `${text}.${signBytes('sha256', Buffer.from(text), privateKey).toString('base64url')}`;
      const own = await makeKey('ES256', 'for encryption');
      const other = await Issuer.start(
        { ...own, jwk: { ...own.jwk, use: 'enc' } },
        { ...own, jwk: { ...jwk, kid: 'weak' } },
        keys.ES256,
      );
      const otherApp = await startTestApp({ jwt: other.settings });
      try {
        expect((await list(otherApp, '', bearer(await other.sign({}, {}, keys.ES256)))).status).toBe(200);
        await expectRefused(otherApp, weak);
        await expectRefused(otherApp, await other.sign({}, {}, own));
      } finally {
        await otherApp.close();
        await other.close();
      }
    });
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

describe('the keys of the issuer', () => {
  let own: Issuer;
  let app: TestApp | undefined;
  beforeEach(async () => {
    own = await Issuer.start(keys.ES256);
  });
  afterEach(async () => {
    await app?.close();
    app = undefined;
    await own.close();
  });

  const health = async (token: string) => outcome(await send(app!, '/health', bearer(token)));
  const start = async () => (app = await startTestApp({ jwt: own.settings }));

  it('need not be there at the start: until they are, nobody is let in and nobody refused', async () => {
    await own.close();
    await start();
    const token = await own.sign();
    for (const answer of await askEverywhere(app!, token)) {
      expect(outcome(answer)).toEqual(unavailable);
      expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    }
    expect(await health(await own.sign({}, { kid: 'unknown' }))).toEqual(unavailable);
    expect((await send(app!, '/health')).text).toBe('OK');
    expect((await health('a.b.c'))[0]).toBe(401);
    await own.open();
    clock.advance(1_000);
    expect((await health(token))[0]).toBe(200);
    expect((await health(await own.sign({}, { kid: 'unknown' })))[0]).toBe(401);
  });

  it('are waited for no longer than the deadline of a request', async () => {
    own.misbehaviour = MISBEHAVIOURS['never answers'];
    app = await startTestApp({
      jwt: own.settings,
      limits: { ...loadConfig({}, false).limits, deadline: 1_000 },
    });
    // After 2 s the verifier itself would say that the keys are unavailable.
    const overdue = 'the service is unavailable at the moment; retry later';
    expect(await health(await own.sign())).toEqual([503, refusal('SERVICE_UNAVAILABLE', overdue)]);
  });
});
