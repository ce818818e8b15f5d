import { describe, expect, it } from '@jest/globals';
import { closedDatabase, missingDatabase, statementsDuring, useTestApp } from '../support/test-app.js';
import { type Answer, outcome, refusal, send } from '../support/requests.js';

const NO_TOKEN = { headers: { authorization: undefined } };
const unavailable = refusal('SERVICE_UNAVAILABLE', 'the service is unavailable at the moment; retry later');

const app = useTestApp();

const plain = ({ status, headers, text }: Answer) => [status, headers.get('content-type'), text];
const isOk = [200, 'text/plain; charset=utf-8', 'OK'];

it.each(['/health', '/livez', '/readyz'])('%s answers OK as plain text', async (path) => {
  expect(plain(await send(app, path))).toEqual(isOk);
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
      }
      expect(plain(await send(app, '/livez', NO_TOKEN))).toEqual(isOk);
    });
    expect(plain(await send(app, '/health'))).toEqual(isOk);
    expect(plain(await send(app, '/readyz', NO_TOKEN))).toEqual(isOk);
  });
});

describe('the database', () => {
  it('is asked by /readyz, and never by /livez', async () => {
    expect(await statementsDuring(app, () => send(app, '/livez', NO_TOKEN))).toEqual([]);
    expect(await statementsDuring(app, () => send(app, '/readyz', NO_TOKEN))).toHaveLength(1);
  });
});
