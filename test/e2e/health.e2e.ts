import { describe, expect, it } from '@jest/globals';
import { aroundStatements } from '../support/around-statements.js';
import { closedDatabase, missingDatabase } from '../support/outage.js';
import { type Answer, outcome, refusal, send } from '../support/requests.js';
import { useTestApp } from '../support/test-app.js';

const NO_TOKEN = { headers: { authorization: undefined } };
const WRONG_TOKEN = { headers: { authorization: 'Bearer tl_wrong' } };
const unauthorized = refusal('UNAUTHORIZED', 'a valid bearer token is required');
const notAllowed = refusal('METHOD_NOT_ALLOWED', 'method not allowed on this path; see the Allow header');
const unavailable = refusal('SERVICE_UNAVAILABLE', 'the service is unavailable at the moment; retry later');

const app = useTestApp();

const plain = ({ status, headers, text }: Answer) => [status, headers.get('content-type'), text];
const isOk = [200, 'text/plain; charset=utf-8', 'OK'];

describe('GET /health', () => {
  it('answers OK as plain text to a valid token', async () => {
    expect(plain(await send(app, '/health'))).toEqual(isOk);
  });

  it.each([
    [NO_TOKEN, 'Bearer realm="time-logs"'],
    [WRONG_TOKEN, 'Bearer realm="time-logs", error="invalid_token"'],
  ])('asks for a token (%#)', async (sending, challenge) => {
    const answer = await send(app, '/health', sending);
    expect(outcome(answer)).toEqual([401, unauthorized]);
    expect(answer.headers.get('www-authenticate')).toBe(challenge);
  });

  it('asks for a token in the other methods too', async () => {
    const answers = ['POST', 'OPTIONS'].map((method) => send(app, '/health', { method, ...NO_TOKEN }));
    for (const answer of await Promise.all(answers)) expect(outcome(answer)).toEqual([401, unauthorized]);
    const head = await send(app, '/health', { method: 'HEAD', ...NO_TOKEN });
    expect([head.status, head.text]).toEqual([401, '']);
  });
});

describe.each(['/livez', '/readyz'])('GET %s', (path) => {
  it.each([{}, NO_TOKEN, WRONG_TOKEN])('answers OK as plain text to anybody (%#)', async (sending) => {
    expect(plain(await send(app, path, sending))).toEqual(isOk);
    expect(plain(await send(app, `${path.toUpperCase()}/`, sending))).toEqual(isOk);
  });
});

describe.each([
  ['/health', {}],
  ['/livez', NO_TOKEN],
  ['/readyz', NO_TOKEN],
])('%s', (path, sending) => {
  it('answers HEAD as GET, without the body', async () => {
    const { status, headers, text } = await send(app, path, { method: 'HEAD', ...sending });
    expect([status, headers.get('content-type'), text]).toEqual([200, isOk[1], '']);
    expect(headers.get('content-length')).toBe('2');
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('allows no %s', async (method) => {
    const answer = await send(app, path, { method, ...sending });
    expect(outcome(answer)).toEqual([405, notAllowed]);
    expect(answer.headers.get('allow')).toBe('GET, HEAD');
  });
});

describe.each([
  ['gone', missingDatabase],
  ['closed to connections', closedDatabase],
])('while the database is %s', (_how, outage) => {
  it('is neither available nor ready, but alive; and recovers by itself', async () => {
    expect(plain(await send(app, '/health'))).toEqual(isOk);
    await outage(app, async () => {
      for (const [path, sending] of [
        ['/health', {}],
        ['/readyz', NO_TOKEN],
      ] as const) {
        const answer = await send(app, path, sending);
        expect([path, ...outcome(answer)]).toEqual([path, 503, unavailable]);
        expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
        expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
        const head = await send(app, path, { method: 'HEAD', ...sending });
        expect([head.status, head.text]).toEqual([503, '']);
      }
      expect(plain(await send(app, '/livez', NO_TOKEN))).toEqual(isOk);
    });
    expect(plain(await send(app, '/health'))).toEqual(isOk);
    expect(plain(await send(app, '/readyz', NO_TOKEN))).toEqual(isOk);
  });
});

describe('the database', () => {
  it('is asked by /readyz, and never by /livez', async () => {
    const statements: string[] = [];
    const unwatch = aroundStatements(app.dataSource, (sql, run) => {
      statements.push(sql);
      return run();
    });
    try {
      await send(app, '/livez', NO_TOKEN);
      expect(statements).toEqual([]);
      await send(app, '/readyz', NO_TOKEN);
      expect(statements).toHaveLength(1);
    } finally {
      unwatch();
    }
  });
});
