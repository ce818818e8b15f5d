import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { answersIn, hasAnswer, rawRequest, sendRaw } from '../support/raw-http.js';
import { type Answer, create, list, LOG, outcome, refusal, send, TIME_LOGS } from '../support/requests.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

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
  let app: TestApp;

  /** The `Authorization` of a token that has made no request yet. */
  async function newcomer(...scopes: string[]): Promise<{ authorization: string }> {
    const wanted = scopes.length > 0 ? scopes : (['time-logs:read', 'time-logs:write'] as const);
    const { token } = await app.tokens.create({ name: 'newcomer', scopes: wanted });
    return { authorization: `Bearer ${token}` };
  }
  /** One that has used up its quota. */
  async function spender(): Promise<{ authorization: string }> {
    const headers = await newcomer();
    for (let i = 0; i < 4; i++) expect((await list(app, '', { headers })).status).toBe(200);
    return headers;
  }

  beforeAll(async () => {
    app = await startTestApp({ rateLimit: { requests: 4, seconds: 3_600 }, declaredTokens: DECLARED });
  });
  afterAll(() => app.close());

  it('tells on every answer what is left, and refuses what is beyond', async () => {
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

  it('gives each token a quota of its own', async () => {
    await spender();
    for (const headers of [
      await newcomer(),
      ...DECLARED.map((token) => ({ authorization: `Bearer ${token}` })),
    ])
      expect(limitsIn(await list(app, '', { headers }))[1]).toMatch(/^"default";r=3;/);
  });

  it('is kept by requests that come at the same time', async () => {
    const headers = await newcomer();
    const answers = await Promise.all(Array.from({ length: 20 }, () => list(app, '', { headers })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(4);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(16);
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
    const head = rawRequest(
      `POST ${TIME_LOGS} HTTP/1.1`,
      'Host: x',
      `Authorization: ${authorization}`,
      'Content-Type: application/json',
      'Content-Length: 50',
      'Expect: 100-continue',
    );
    const received = await sendRaw(app.port, head, hasAnswer);
    expect(received).not.toContain('100 Continue');
    expect(answersIn(received).map(({ status }) => status)).toEqual([429]);
  });

  it('counts what a token asks of unknown paths and methods', async () => {
    const headers = await newcomer();
    expect(limitsIn(await send(app, '/nowhere', { headers }))[1]).toMatch(/^"default";r=3;/);
    expect(limitsIn(await send(app, TIME_LOGS, { method: 'PUT', headers }))[1]).toMatch(/^"default";r=2;/);
  });

  it('counts corrections and deletions, and refuses them before it looks at anything', async () => {
    const headers = await newcomer('time-logs:correct');
    const path = `${TIME_LOGS}/019c1370-4e1b-7000-8000-000000000001`;
    const ask = (method: string) => send(app, path, { method, headers });
    const answers = [await ask('PUT'), await ask('DELETE'), await ask('PUT'), await ask('DELETE')];
    expect(answers.map((answer) => [answer.status, limitsIn(answer)[1]?.slice(0, 14)])).toEqual([
      [415, '"default";r=3;'],
      [404, '"default";r=2;'],
      [415, '"default";r=1;'],
      [404, '"default";r=0;'],
    ]);
    for (const method of ['PUT', 'DELETE']) expect((await ask(method)).status).toBe(429);
  });

  it('counts nothing that is refused for its token', async () => {
    const headers = await newcomer('time-logs:read');
    for (let i = 0; i < 6; i++) {
      const forbidden = await create(app, LOG, headers);
      expect([forbidden.status, ...limitsIn(forbidden)]).toEqual([403, null, null, null]);
      const anonymous = await list(app, '', { headers: { authorization: undefined } });
      expect([anonymous.status, ...limitsIn(anonymous)]).toEqual([401, null, null, null]);
    }
    expect(limitsIn(await list(app, '', { headers }))[1]).toMatch(/^"default";r=3;/);
  });

  it.each(['/health', '/livez', '/readyz'])('never touches %s', async (path) => {
    const headers = await spender();
    for (let i = 0; i < 6; i++) {
      const answer = await send(app, path, { headers });
      expect([answer.status, answer.text, ...limitsIn(answer)]).toEqual([200, 'OK', null, null, null]);
    }
    const fresh = await newcomer();
    await send(app, path, { headers: fresh });
    expect(limitsIn(await list(app, '', { headers: fresh }))[1]).toMatch(/^"default";r=3;/);
  });
});

describe('with RATE_LIMIT=2/second', () => {
  it('serves again after the seconds that it named', async () => {
    const app = await startTestApp({ rateLimit: { requests: 2, seconds: 1 } });
    try {
      let refused: Answer | undefined;
      // On a slow machine three answers can take longer than the second.
      while (refused === undefined) {
        const answers = await Promise.all([list(app), list(app), list(app)]);
        refused = answers.find(({ status }) => status === 429);
      }
      expect(limitsIn(refused)).toEqual(['"default";q=2;w=1', '"default";r=0;t=1', '1']);
      await delay(1_000);
      const served = await list(app);
      expect([served.status, limitsIn(served)[1]]).toEqual([200, '"default";r=1;t=1']);
    } finally {
      await app.close();
    }
  });
});

describe('without RATE_LIMIT', () => {
  it('limits nothing, and has no header that says so', async () => {
    const app = await startTestApp();
    try {
      const answers = await Promise.all(Array.from({ length: 200 }, () => list(app)));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      expect(limitsIn(answers[0]!)).toEqual([null, null, null]);
    } finally {
      await app.close();
    }
  });
});
