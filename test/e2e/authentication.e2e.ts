import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { newToken } from '../../src/access-token/access-token.js';
import { eventually } from '../support/eventually.js';
import { missingDatabase, statementsDuring, useClock, useTestApp } from '../support/test-app.js';
import { expectCommon, REFUSED } from '../support/edge.js';
import { answersIn, hasAnswer, rawRequest, sendRaw } from '../support/raw-http.js';
import { create, list, LOG, outcome, refusal, send, sendBytes, TIME_LOGS } from '../support/requests.js';

const REALM = 'Bearer realm="time-logs"';
const INVALID = `${REALM}, error="invalid_token"`;
const unauthorized = refusal('UNAUTHORIZED', 'a valid bearer token is required');
const DECLARED = ['declared-token-of-32-characters-1', 'declared+token/of.32~characters_2=='];

const clock = useClock();
const app = useTestApp({ declaredTokens: DECLARED });

async function tokenWith(...scopes: string[]): Promise<string> {
  return (await app.tokens.create({ name: 'one of a test', scopes })).token;
}

/** Writes a request of these lines and reads the first answer. */
async function raw(lines: readonly string[]): Promise<unknown[]> {
  const request = rawRequest('GET /health HTTP/1.1', 'Host: x', ...lines);
  const answer = await sendBytes(app, request);
  return [answer!.status, answer!.headers.get('www-authenticate'), answer!.body ?? answer!.text];
}

describe('the Authorization header', () => {
  it.each([
    ...['', 'Basic dXNlcjpwYXNz', 'Bearer ', 'Bearer:x', 'BearerX x'].map((text) => [text, REALM]),
    ...[
      'tl_x',
      newToken(),
      'eyJhbGciOiJub25lIn0.e30.e30',
      'a b',
      '"x"',
      '=',
      'é',
      `${DECLARED[0]!}x`,
      DECLARED.join(),
    ].map((token) => [`Bearer ${token}`, INVALID]),
  ])('has no valid token: %j', async (authorization, challenge) => {
    const { status, headers, body } = await send(app, '/health', { headers: { authorization } });
    expect([status, headers.get('www-authenticate'), body]).toEqual([401, challenge, unauthorized]);
  });

  it.each(['bEaReR ', 'Bearer    ', '  Bearer '])('takes the scheme as "%s"', async (scheme) => {
    expect(await raw([`Authorization: ${scheme}${app.token}`])).toEqual([200, null, 'OK']);
    expect(await raw([`Authorization: ${scheme}${DECLARED[1]!}  `])).toEqual([200, null, 'OK']);
  });

  it('may come once', async () => {
    const good = `Authorization: Bearer ${app.token}`;
    for (const other of [good, `authorization: Bearer ${newToken()}`]) {
      expect(await raw([good, other])).toEqual([401, INVALID, unauthorized]);
      expect(await raw([other, good])).toEqual([401, INVALID, unauthorized]);
    }
    expect(await raw([good, 'AUTHORIZATION: Basic eDp5'])).toEqual([401, INVALID, unauthorized]);
    const many = Array.from({ length: 1_100 }, (_, index) => `x${index}: 1`);
    expect(await raw([good, ...many, good])).toEqual([401, INVALID, unauthorized]);
  });
});

describe('authentication', () => {
  it('comes before 100 Continue', async () => {
    const body = JSON.stringify(LOG);
    const head = (token: string) =>
      rawRequest(
        `POST ${TIME_LOGS} HTTP/1.1`,
        'Host: x',
        `Authorization: Bearer ${token}`,
        'Content-Type: application/json',
        `Content-Length: ${body.length}`,
        'Expect: 100-continue',
      );
    const hasLine = (text: string) => text.includes('\r\n\r\n');
    const refused = await sendRaw(app.port, head(newToken()), hasAnswer);
    expect(refused).not.toContain('100 Continue');
    expect(answersIn(refused).map(outcome)).toEqual([REFUSED.unauthorized]);
    expect(await sendRaw(app.port, head(app.token), hasLine)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    const [created] = answersIn(await sendRaw(app.port, head(app.token) + body, hasAnswer));
    expect(created?.status).toBe(201);
  });

  it('refuses a token within 5 seconds after it was revoked or has expired', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000);
    const [revoked, expired] = [
      await app.tokens.create({ name: 'revoked', scopes: [], projects: [LOG.projectId] }),
      await app.tokens.create({ name: 'short-lived', scopes: [], expiresAt }),
    ];
    const answers = () =>
      Promise.all([revoked, expired].map(({ token }) => raw([`Authorization: Bearer ${token}`])));
    expect(await answers()).toEqual(Array(2).fill([200, null, 'OK']));
    expect(await app.tokens.revoke(revoked.id)).toBe(true);
    await app.dataSource.query('update access_tokens set expires_at = now() where id = $1', [expired.id]);
    clock.advance(5_000);
    expect(await answers()).toEqual(Array(2).fill([401, INVALID, unauthorized]));
  });

  it('keeps the SHA-256 of a token, and nothing else of it', async () => {
    const { id, token } = await app.tokens.create({ name: 'hashed', scopes: [] });
    const [row] = await app.dataSource.query<{ digest: Buffer; all: string }[]>(
      'select digest, t::text as all from access_tokens t where id = $1',
      [id],
    );
    expect(row!.digest).toEqual(createHash('sha256').update(token).digest());
    expect(row!.all).not.toContain(token.slice(3));
  });

  describe('accepts a rotated token', () => {
    const issue = () => app.tokens.create({ name: 'rotated', scopes: ['time-logs:write'] });
    const rotate = async (id: string, overlapMs: number) => {
      const token = newToken();
      expect(await app.tokens.rotate(id, token, overlapMs)).toMatchObject({ state: 'rotated' });
      return token;
    };
    const statusOf = async (token: string) => (await raw([`Authorization: Bearer ${token}`]))[0];
    const statuses = (...tokens: string[]) => Promise.all(tokens.map(statusOf));

    it('with the new secret at once, and with the earlier one until the overlap or another rotation ends it', async () => {
      const { id, token: first } = await issue();
      expect(await statusOf(first)).toBe(200);
      const second = await rotate(id, 3_600_000);
      clock.advance(4_000);
      expect(await statuses(first, second)).toEqual([200, 200]);
      const third = await rotate(id, 3_600_000);
      expect(await statusOf(third)).toBe(200);
      clock.advance(4_000);
      expect(await statuses(first, second, third)).toEqual([401, 200, 200]);
      await app.dataSource.query('update access_tokens set previous_until = now() where id = $1', [id]);
      clock.advance(4_000);
      expect(await statuses(second, third)).toEqual([401, 200]);
      await app.tokens.revoke(id);
      clock.advance(4_000);
      expect(await statuses(second, third)).toEqual([401, 401]);
    });

    it('as the same caller, so that a key protects its create after the rotation too', async () => {
      const { id, token: first } = await issue();
      const record = async (token: string) => {
        const { headers, text } = await create({ port: app.port, token }, LOG, { 'Idempotency-Key': 'key' });
        return [text, headers.get('idempotency-replayed')];
      };
      const [text] = await record(first);
      const second = await rotate(id, 0);
      expect(await record(second)).toEqual([text, 'true']);
    });
  });

  describe('writes the last use of a token', () => {
    const lastUse = async (id: string) => {
      const sql = 'select last_used_at as at from access_tokens where id = $1';
      return (await app.dataSource.query<{ at: Date | null }[]>(sql, [id]))[0]!.at?.getTime();
    };
    const use = (token: string) => {
      clock.advance(4_000);
      return raw([`Authorization: Bearer ${token}`]);
    };
    const setLastUse = (id: string, interval: string) =>
      app.dataSource.query(
        `update access_tokens set last_used_at = clock_timestamp() + $2::interval where id = $1`,
        [id, interval],
      );

    it('at most once a minute', async () => {
      const { id, token } = await app.tokens.create({ name: 'used', scopes: [] });
      expect(await lastUse(id)).toBeUndefined();
      const before = Date.now();
      const first = await eventually(async () => {
        // While the use of another token is noted, none is.
        await use(token);
        const at = await lastUse(id);
        expect(at).toBeGreaterThanOrEqual(before);
        return at!;
      });
      expect(first).toBeLessThanOrEqual(Date.now());
      const statements = await statementsDuring(app, async () => {
        await setLastUse(id, '-30 seconds');
        await use(token);
        await setLastUse(id, '-61 seconds');
        await use(token);
        await eventually(async () => expect(await lastUse(id)).toBeGreaterThanOrEqual(first));
      });
      expect(statements.filter((sql) => sql.includes('last_used_at = now()'))).toHaveLength(1);
    });
  });

  it('is refused with 503 while the database is unavailable and its token is not cached', async () => {
    const token = await tokenWith('time-logs:read', 'time-logs:write');
    const headers = { authorization: `Bearer ${token}` };
    await missingDatabase(app, async () => {
      for (const authorization of [headers.authorization, `Bearer ${newToken()}`]) {
        for (const answer of [
          await create(app, LOG, { authorization }),
          await send(app, '/nowhere', { headers: { authorization } }),
        ]) {
          expect(outcome(answer)).toEqual(REFUSED.unavailable);
          expectCommon(answer.headers);
          expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
        }
      }
      const none = await send(app, '/nowhere', { headers: { authorization: undefined } });
      expect(outcome(none)).toEqual(REFUSED.unauthorized);
    });
    expect((await list(app, '', { headers })).status).toBe(200);
  });
});
