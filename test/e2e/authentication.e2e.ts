import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AccessTokenService } from '../../src/access-token/index.js';
import { AccessTokenVerifier } from '../support/compiled.js';
import { eventually } from '../../src/time-log/contract/eventually.js';
import { aroundStatements } from '../support/around-statements.js';
import { missingDatabase } from '../support/outage.js';
import { answersIn, hasAnswer, rawRequest, sendRaw } from '../support/raw-http.js';
import {
  type Answer,
  create,
  dataOf,
  list,
  LOG,
  outcome,
  refusal,
  send,
  sendBytes,
  TIME_LOGS,
} from '../support/requests.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const REALM = 'Bearer realm="time-logs"';
const INVALID = `${REALM}, error="invalid_token"`;
const unauthorized = refusal('UNAUTHORIZED', 'a valid bearer token is required');
const unavailable = refusal('SERVICE_UNAVAILABLE', 'the service is unavailable at the moment; retry later');
const DECLARED = ['declared-token-of-32-characters-1', 'declared+token/of.32~characters_2=='];

const body = JSON.stringify(LOG);
const json = { 'content-type': 'application/json' };
/** The id of no log. */
const NONE = '019c1370-4e1b-7000-8000-000000000001';
/** Every route, and what is no route; with what each answers to a token that is good for everything. */
const ROUTES = [
  { method: 'GET', path: '/health', status: 200 },
  { method: 'HEAD', path: '/health', status: 200 },
  { method: 'GET', path: TIME_LOGS, status: 200 },
  { method: 'HEAD', path: TIME_LOGS, status: 200 },
  { method: 'POST', path: TIME_LOGS, status: 201, body, headers: json },
  { method: 'PUT', path: `${TIME_LOGS}/${NONE}`, status: 404, declared: 403, body, headers: json },
  { method: 'DELETE', path: `${TIME_LOGS}/${NONE}`, status: 404, declared: 403 },
  { method: 'DELETE', path: TIME_LOGS, status: 405 },
  { method: 'OPTIONS', path: TIME_LOGS, status: 405 },
  { method: 'POST', path: '/health', status: 405 },
  { method: 'GET', path: '/', status: 404 },
  { method: 'GET', path: '/nowhere', status: 404 },
  { method: 'PUT', path: '/api/v1', status: 404 },
  { method: 'GET', path: '/livez/nowhere', status: 404 },
  { method: 'GET', path: '/%ff', status: 404 },
] as const;

let app: TestApp;
let service: AccessTokenService;

beforeAll(async () => {
  app = await startTestApp({ declaredTokens: DECLARED });
  service = app.tokens;
});
afterAll(() => app.close());

const newToken = () => `tl_${randomBytes(32).toString('base64url')}`;

async function tokenWith(...scopes: string[]): Promise<string> {
  return (await service.create({ name: 'one of a test', scopes })).token;
}

/** Asks a route with this `Authorization` header. */
function ask(route: (typeof ROUTES)[number], authorization: string | undefined): Promise<Answer> {
  const headers = 'headers' in route ? route.headers : {};
  return send(app, route.path, {
    method: route.method,
    headers: { ...headers, authorization },
    ...('body' in route && { body: route.body }),
  });
}

/** What a refusal for want of a token is; an answer to HEAD has no body. */
const isRefused = (method: string, challenge: string) => [
  401,
  challenge,
  method === 'HEAD' ? undefined : unauthorized,
];
const refusalIn = ({ status, headers, body }: Answer) => [status, headers.get('www-authenticate'), body];

/** Writes a request of these lines and reads the first answer. */
async function raw(lines: readonly string[]): Promise<unknown[]> {
  const request = rawRequest('GET /health HTTP/1.1', 'Host: x', ...lines);
  const answer = await sendBytes(app, request);
  return [answer!.status, answer!.headers.get('www-authenticate'), answer!.body ?? answer!.text];
}

interface StatementCounts {
  lookups: number;
  notes: number;
  most: number;
}

/** Counts the statements about tokens that the service sends while something is done, and how many at a time. */
async function statementsDuring(
  work: (sofar: Readonly<StatementCounts>) => Promise<void>,
): Promise<StatementCounts> {
  const counts = { lookups: 0, notes: 0, most: 0 };
  let running = 0;
  const unwatch = aroundStatements(app.dataSource, async (sql, statement) => {
    if (!sql.includes('access_tokens')) return statement();
    counts[/^\s*update/i.test(sql) ? 'notes' : 'lookups']++;
    counts.most = Math.max(counts.most, ++running);
    // Slow enough for other requests to come in meanwhile.
    await delay(20);
    return statement().finally(() => running--);
  });
  try {
    await work(counts);
  } finally {
    unwatch();
  }
  return counts;
}

describe.each(ROUTES)('$method $path', (route) => {
  const { method, path, status } = route;

  it('lets valid tokens in', async () => {
    expect((await ask(route, `Bearer ${app.token}`)).status).toBe(status);
    for (const token of DECLARED) {
      // These can neither correct nor delete.
      const expected = 'declared' in route ? route.declared : status;
      expect((await ask(route, `Bearer ${token}`)).status).toBe(expected);
    }
  });

  it.each([
    undefined,
    '',
    'Basic dXNlcjpwYXNz',
    'Digest x',
    'Bearer',
    'Bearer ',
    'Bearer:x',
    'tl_x',
    'BearerX x',
  ])('asks for a bearer token where there is none (%j)', async (authorization) => {
    expect(refusalIn(await ask(route, authorization))).toEqual(isRefused(method, REALM));
  });

  it.each([
    'x',
    'tl_x',
    newToken(),
    'a b',
    'a,b',
    'a=b',
    '"x"',
    '=',
    'é',
    `${DECLARED[0]!}x`,
    DECLARED.join(),
  ])('refuses the bearer token %j', async (token) => {
    expect(refusalIn(await ask(route, `Bearer ${token}`))).toEqual(isRefused(method, INVALID));
  });

  it('looks for a token neither in the query nor in the body', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const text = `access_token=${app.token}`;
    const inQuery = await send(app, `${path}?${text}`, { method, headers: { authorization: undefined } });
    expect(refusalIn(inQuery)).toEqual(isRefused(method, REALM));
    if (method === 'GET' || method === 'HEAD') return;
    const inBody = await send(app, path, {
      method,
      body: text,
      headers: { ...form, authorization: undefined },
    });
    expect(refusalIn(inBody)).toEqual(isRefused(method, REALM));
  });
});

describe('the Authorization header', () => {
  it.each(['Bearer ', 'bearer ', 'BEARER ', 'bEaReR ', 'Bearer    ', '  Bearer '])(
    'takes the scheme as "%s"',
    async (scheme) => {
      expect(await raw([`Authorization: ${scheme}${app.token}`])).toEqual([200, null, 'OK']);
      expect(await raw([`Authorization: ${scheme}${DECLARED[1]!}  `])).toEqual([200, null, 'OK']);
    },
  );

  it('may come once', async () => {
    const good = `Authorization: Bearer ${app.token}`;
    for (const other of [good, `authorization: Bearer ${newToken()}`]) {
      expect(await raw([good, other])).toEqual([401, INVALID, unauthorized]);
      expect(await raw([other, good])).toEqual([401, INVALID, unauthorized]);
    }
    for (const lines of [
      [good, 'AUTHORIZATION: Basic eDp5'],
      ['Authorization: Basic eDp5', good],
    ]) {
      const [status, , refused] = await raw(lines);
      expect([status, refused]).toEqual([401, unauthorized]);
    }
    const many = Array.from({ length: 1_100 }, (_, index) => `x${index}: 1`);
    expect(await raw([good, ...many, good])).toEqual([401, INVALID, unauthorized]);
  });

  it('is refused in the same words for an unknown, an expired and a revoked token', async () => {
    const expired = newToken();
    await service.store(expired, {
      name: 'expired',
      scopes: ['time-logs:read'],
      expiresAt: new Date(Date.now() - 1_000),
    });
    const revoked = await service.create({ name: 'revoked', scopes: ['time-logs:read'] });
    expect(await service.revoke(revoked.id)).toBe(true);
    for (const token of [newToken(), expired, revoked.token]) {
      expect(await raw([`Authorization: Bearer ${token}`])).toEqual([401, INVALID, unauthorized]);
    }
  });
});

describe('scopes', () => {
  const forbidden = (scope: string) => [
    403,
    `${REALM}, error="insufficient_scope", scope="${scope}"`,
    refusal('FORBIDDEN', `the token lacks the scope ${scope}`),
  ];
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

  it('let a token of time-logs:read list, and nothing else', async () => {
    const headers = bearer(await tokenWith('time-logs:read'));
    expect((await list(app, '', { headers })).status).toBe(200);
    expect(refusalIn(await create(app, LOG, headers))).toEqual(forbidden('time-logs:write'));
    expect(refusalIn(await create(app, '{', { 'content-type': 'text/plain', ...headers }))).toEqual(
      forbidden('time-logs:write'),
    );
  });

  it('let a token of time-logs:write create, and nothing else', async () => {
    const headers = bearer(await tokenWith('time-logs:write'));
    expect((await create(app, LOG, headers)).status).toBe(201);
    expect(refusalIn(await list(app, '', { headers }))).toEqual(forbidden('time-logs:read'));
    expect(refusalIn(await list(app, 'page=x', { headers }))).toEqual(forbidden('time-logs:read'));
  });

  it('let a token of time-logs:correct correct and delete, and nothing else', async () => {
    const { id } = dataOf(await create(app)) as { id: string };
    const path = `${TIME_LOGS}/${id}`;
    const headers = bearer(await tokenWith('time-logs:correct'));
    const put = { method: 'PUT', headers: { ...json, ...headers }, body: JSON.stringify(LOG) };
    expect((await send(app, path, put)).status).toBe(200);
    expect(refusalIn(await send(app, path, { headers }))).toEqual(forbidden('time-logs:read'));
    expect(refusalIn(await create(app, LOG, headers))).toEqual(forbidden('time-logs:write'));
    expect((await send(app, path, { method: 'DELETE', headers })).status).toBe(204);
  });

  it('let a declared token read and write, but neither correct nor delete', async () => {
    const headers = bearer(DECLARED[0]!);
    const { id } = dataOf(await create(app, LOG, headers)) as { id: string };
    const path = `${TIME_LOGS}/${id}`;
    expect((await send(app, path, { headers })).status).toBe(200);
    for (const method of ['PUT', 'DELETE'])
      expect(refusalIn(await send(app, path, { method, headers }))).toEqual(forbidden('time-logs:correct'));
  });

  it('do not matter for the health check', async () => {
    for (const scopes of [[], ['time-logs:read'], ['time-logs:write']] as string[][]) {
      const { status, text } = await send(app, '/health', { headers: bearer(await tokenWith(...scopes)) });
      expect([status, text]).toEqual([200, 'OK']);
    }
  });
});

describe('authentication', () => {
  it.each([
    ['of the wrong type', 415, { 'content-type': 'text/plain' }, 'x'],
    ['that is compressed', 415, { 'content-encoding': 'gzip', ...json }, 'x'],
    ['that is malformed', 400, json, '{'],
    ['that is too large', 413, json, ' '.repeat(70_000)],
  ])('comes before a look at a body %s', async (_what, status, headers, text) => {
    for (const authorization of [undefined, `Bearer ${newToken()}`]) {
      const answer = await create(app, text, { ...headers, authorization });
      expect(outcome(answer)).toEqual([401, unauthorized]);
    }
    expect((await create(app, text, headers)).status).toBe(status);
  });

  it('comes before 100 Continue', async () => {
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
    expect(answersIn(refused).map(outcome)).toEqual([[401, unauthorized]]);
    expect(await sendRaw(app.port, head(app.token), hasLine)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    const [created] = answersIn(await sendRaw(app.port, head(app.token) + body, hasAnswer));
    expect(created?.status).toBe(201);
  });

  it('refuses a revoked token within 5 seconds', async () => {
    const wanted = { name: 'to be revoked', scopes: [] };
    const made = [
      await service.create(wanted),
      await service.create({ ...wanted, projects: [LOG.projectId] }),
    ];
    const answers = () => Promise.all(made.map(({ token }) => raw([`Authorization: Bearer ${token}`])));
    expect(await answers()).toEqual(Array(2).fill([200, null, 'OK']));
    for (const { id } of made) await service.revoke(id);
    await delay(5_000);
    expect(await answers()).toEqual(Array(2).fill([401, INVALID, unauthorized]));
  });

  it('refuses a token from the moment that it expires', async () => {
    const token = newToken();
    const expiresAt = new Date(Date.now() + 3_000);
    await service.store(token, { name: 'short-lived', scopes: [], expiresAt });
    expect(await raw([`Authorization: Bearer ${token}`])).toEqual([200, null, 'OK']);
    await delay(expiresAt.getTime() - Date.now() + 200);
    expect(await raw([`Authorization: Bearer ${token}`])).toEqual([401, INVALID, unauthorized]);
  });

  it('knows what projects a token is bound to, from the database and then from memory', async () => {
    const verifier = app.app.get(AccessTokenVerifier);
    const [one, two] = ['ABCDEFAB-CDEF-4ABC-8DEF-ABCDEFABCDEF', '11111111-1111-1111-1111-111111111111'];
    const bounds = [undefined, [], [one, two]];
    const made = await Promise.all(
      bounds.map((projects) => service.create({ name: 'bound', scopes: [], projects })),
    );
    const known = async () =>
      Promise.all(made.map(async ({ token }) => (await verifier.verify(token))?.projects));
    const asked = [undefined, [], [one.toLowerCase(), two]];
    const counts = await statementsDuring(async () => {
      expect(await known()).toEqual(asked);
      expect(await known()).toEqual(asked);
    });
    // What comes while one is under way goes into the next.
    expect(counts.lookups).toBeLessThanOrEqual(2);
    expect((await verifier.verify(DECLARED[0]!))!.projects).toBeUndefined();
  });

  it('keeps the SHA-256 of a token, and nothing else of it', async () => {
    const { id, token } = await service.create({ name: 'hashed', scopes: [] });
    const [row] = await app.dataSource.query<{ digest: Buffer; all: string }[]>(
      'select digest, t::text as all from access_tokens t where id = $1',
      [id],
    );
    expect(row!.digest).toEqual(createHash('sha256').update(token).digest());
    expect(row!.all).not.toContain(token.slice(3));
  });

  it('writes the last use of a token at most once a minute', async () => {
    const { id, token } = await service.create({ name: 'used', scopes: [] });
    const lastUse = async () => {
      const sql = 'select last_used_at as at from access_tokens where id = $1';
      return (await app.dataSource.query<{ at: Date | null }[]>(sql, [id]))[0]!.at?.getTime();
    };
    const use = () => raw([`Authorization: Bearer ${token}`]);
    expect(await lastUse()).toBeUndefined();
    const before = Date.now();
    // The use is noted in its own time, or not at all where the database is busy; a verdict is good for 4 seconds.
    const first = await eventually(async () => {
      await use();
      const at = await lastUse();
      expect(at).toBeGreaterThanOrEqual(before);
      return at;
    });
    expect(first).toBeLessThanOrEqual(Date.now());
    await delay(4_100);
    await use();
    await delay(300);
    expect(await lastUse()).toBe(first);
    await app.dataSource.query(
      `update access_tokens set last_used_at = last_used_at - interval '61 seconds' where id = $1`,
      [id],
    );
    await delay(4_100);
    await use();
    await eventually(async () => expect(await lastUse()).toBeGreaterThan(first!));
  });

  it('writes the last use of a token again where the clock of the database went back', async () => {
    const { id, token } = await service.create({ name: 'ahead', scopes: [] });
    await app.dataSource.query(
      `update access_tokens set last_used_at = now() + interval '1 hour' where id = $1`,
      [id],
    );
    await raw([`Authorization: Bearer ${token}`]);
    const isToCome = 'select last_used_at > now() as "isToCome" from access_tokens where id = $1';
    await eventually(async () =>
      expect(await app.dataSource.query(isToCome, [id])).toEqual([{ isToCome: false }]),
    );
  });
});

describe('the cost of authentication', () => {
  it('is one query for a known token, however often it is used in 4 seconds', async () => {
    const token = await tokenWith();
    const begun = performance.now();
    const counts = await statementsDuring(async (sofar) => {
      await Promise.all(Array.from({ length: 20 }, () => raw([`Authorization: Bearer ${token}`])));
      for (let i = 0; i < 20; i++) await raw([`Authorization: Bearer ${token}`]);
      // Noted in its own time.
      await eventually(() => expect(sofar.notes).toBe(1));
    });
    expect(counts.lookups).toBeLessThanOrEqual(1 + (performance.now() - begun) / 4_000);
    expect(counts.notes).toBe(1);
  });

  it('is none for a token that is declared or cannot be one of ours', async () => {
    const counts = await statementsDuring(async () => {
      for (const token of [...DECLARED, 'x', `${newToken()}x`]) await raw([`Authorization: Bearer ${token}`]);
    });
    expect(counts).toEqual({ lookups: 0, notes: 0, most: 0 });
  });

  it('stays bounded in a flood of unknown tokens, while others are served', async () => {
    const good: number[] = [];
    const flood: Answer[] = [];
    const stranger = async () => {
      for (let i = 0; i < 20; i++)
        flood.push(await list(app, '', { headers: { authorization: `Bearer ${newToken()}` } }));
    };
    const counts = await statementsDuring(async () => {
      const over = new AbortController();
      const flooding = Promise.all(Array.from({ length: 100 }, stranger)).finally(() => over.abort());
      const fresh = await tokenWith('time-logs:read');
      while (!over.signal.aborted) {
        good.push((await list(app)).status);
        good.push((await list(app, '', { headers: { authorization: `Bearer ${fresh}` } })).status);
      }
      await flooding;
    });
    expect(flood.length).toBe(2_000);
    expect(new Set(flood.map((answer) => JSON.stringify(refusalIn(answer))))).toEqual(
      new Set([JSON.stringify([401, INVALID, unauthorized])]),
    );
    expect(new Set(good)).toEqual(new Set([200]));
    // Of a pool of ten connections.
    expect(counts.most).toBeLessThanOrEqual(3);
  });

  it('is never an open door: with the database away, who is not known yet gets 503', async () => {
    const token = await tokenWith('time-logs:read', 'time-logs:write');
    const headers = { authorization: `Bearer ${token}` };
    await missingDatabase(app, async () => {
      for (const authorization of [headers.authorization, `Bearer ${newToken()}`]) {
        for (const answer of [
          await send(app, '/health', { headers: { authorization } }),
          await list(app, '', { headers: { authorization } }),
          await create(app, LOG, { authorization }),
          await send(app, '/nowhere', { headers: { authorization } }),
        ]) {
          expect(outcome(answer)).toEqual([503, unavailable]);
          expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
        }
      }
      const none = await send(app, '/nowhere', { headers: { authorization: undefined } });
      expect(outcome(none)).toEqual([401, unauthorized]);
    });
    expect((await list(app, '', { headers })).status).toBe(200);
  });
});
