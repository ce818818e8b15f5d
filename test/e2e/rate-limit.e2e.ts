import { describe, expect, it } from '@jest/globals';
import { scopes } from '../../src/app.module.js';
import { ROUTES, sampleOf } from '../support/describe-route.js';
import { answersIn, hasAnswer, rawRequest, sendRaw } from '../support/raw-http.js';
import { type Answer, create, list, LOG, outcome, refusal, send, TIME_LOGS } from '../support/requests.js';
import { useTestApp } from '../support/test-app.js';

const DECLARED = ['declared-token-of-32-characters-1', 'declared-token-of-32-characters-2'];
const limitsIn = ({ headers }: Answer) =>
  ['ratelimit-policy', 'ratelimit', 'retry-after'].map((name) => headers.get(name));
const limited = (requests: number, window: number, seconds: number) =>
  refusal(
    'RATE_LIMITED',
    `too many requests: a token may make ${requests} in ${window} seconds; retry after ${seconds} seconds`,
  );

describe('with RATE_LIMIT=4/hour', () => {
  const POLICY = '"default";q=4;w=3600';
  const app = useTestApp({ rateLimit: { requests: 4, seconds: 3_600 }, declaredTokens: DECLARED });

  /** The `Authorization` of a token that has made no request yet. */
  async function newcomer(
    scopes = ['time-logs:read', 'time-logs:write'],
  ): Promise<{ authorization: string }> {
    const { token } = await app.tokens.create({ name: 'newcomer', scopes });
    return { authorization: `Bearer ${token}` };
  }
  /** One that has used up its quota. */
  async function spender(scopes?: string[]): Promise<{ authorization: string }> {
    const headers = await newcomer(scopes);
    for (let i = 0; i < 4; i++) expect((await list(app, '', { headers })).status).toBe(200);
    return headers;
  }

  it('returns the remaining requests with every answer, and refuses further ones', async () => {
    const headers = await newcomer();
    const answers = [
      await list(app, '', { headers }),
      await create(app, LOG, headers),
      await list(app, 'page=x', { headers }),
      await send(app, TIME_LOGS, { method: 'HEAD', headers }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 201, 400, 200]);
    expect(answers.map(limitsIn)).toEqual(
      [3, 2, 1, 0].map((left) => [
        POLICY,
        expect.stringMatching(`^"default";r=${left};t=3(600|[45]\\d\\d)$`),
        null,
      ]),
    );
    for (const refused of [await list(app, '', { headers }), await create(app, LOG, headers)]) {
      const seconds = Number(refused.headers.get('retry-after'));
      expect(outcome(refused)).toEqual([429, limited(4, 3_600, seconds)]);
      expect(limitsIn(refused)).toEqual([POLICY, `"default";r=0;t=${seconds}`, String(seconds)]);
      expect(seconds).toBeGreaterThanOrEqual(3_400);
      expect(seconds).toBeLessThanOrEqual(3_600);
      expect(refused.headers.get('content-type')).toBe('application/json; charset=utf-8');
    }
  });

  it('refuses before a body is read or looked at', async () => {
    const { authorization } = await spender();
    const json = { 'content-type': 'application/json', authorization };
    for (const [body, headers] of [
      ['{', json],
      [' '.repeat(70_000), json],
      ['x', { ...json, 'content-type': 'text/plain' }],
    ] as const)
      expect((await create(app, body, headers)).status).toBe(429);
    const headers = ['Content-Type: application/json', 'Content-Length: 50', 'Expect: 100-continue'];
    const bearer = `Authorization: ${authorization}`;
    const head = rawRequest(`POST ${TIME_LOGS} HTTP/1.1`, 'Host: x', bearer, ...headers);
    const received = await sendRaw(app.port, head, hasAnswer);
    expect(received).not.toContain('100 Continue');
    expect(answersIn(received).map(({ status }) => status)).toEqual([429]);
  });

  it('counts unknown paths and methods, and nothing that is refused for its token', async () => {
    const headers = await newcomer(['time-logs:read']);
    for (let i = 0; i < 2; i++) {
      const forbidden = await create(app, LOG, headers);
      expect([forbidden.status, ...limitsIn(forbidden)]).toEqual([403, null, null, null]);
      const anonymous = await list(app, '', { headers: { authorization: undefined } });
      expect([anonymous.status, ...limitsIn(anonymous)]).toEqual([401, null, null, null]);
    }
    expect(limitsIn(await list(app, '', { headers }))[1]).toMatch(/^"default";r=3;/);
    // Unknown paths count.
    expect(limitsIn(await send(app, '/nowhere', { headers }))[1]).toMatch(/^"default";r=2;/);
    expect(limitsIn(await send(app, TIME_LOGS, { method: 'PUT', headers }))[1]).toMatch(/^"default";r=1;/);
  });

  it('counts the routes for which the document has 429, and no other', async () => {
    const headers = await newcomer(scopes);
    for (const route of ROUTES) {
      const { token } = await app.tokens.create({ name: 'maker', scopes });
      const { path, ...sample } = await sampleOf(route, { ...app, token });
      const answer = await send(app, path, { ...sample, headers: { ...sample.headers, ...headers } });
      expect([route.path, limitsIn(answer)[0]]).toEqual([
        route.path,
        '429' in route.operation.responses ? POLICY : null,
      ]);
    }
  });
});
