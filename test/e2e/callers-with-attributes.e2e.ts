import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { AccessTokenService, type NewAccessToken } from '../../src/access-token/index.js';
import { scopes } from '../../src/app.module.js';
import { lastLineOf } from '../support/commands.js';
import { runHere, type ServiceHere, startHere } from '../support/service-here.js';
import { useFolder, useTestDatabase } from '../support/fixtures.js';
import { LOG, PROJECT, sendUnchecked, TIME_LOGS } from '../support/requests.js';

const SCHEMA = {
  type: 'object',
  additionalProperties: false,
  properties: {
    userId: { type: 'string' },
    level: { type: 'number' },
    billable: { type: 'boolean' },
    constructor: { type: 'string' },
    note: {},
  },
};
const OTHER_PROJECT = 'b0000000-0000-4000-8000-00000000000f';
const NOT_ALLOWED = [403, 'the token does not allow this attribute'];
const NOT_THIS_PROJECT = [403, 'the token does not allow this project'];
const NOT_DECLARED = [403, 'the token is bound to an attribute that this service does not filter by'];
const NOT_THERE = [404, 'there is no time log with this id'];
const CHANGED = [412, 'the log has changed since: get it again'];
const OK = [200, undefined];
const ADA = { userId: 'ada' };
const BOB = { userId: 'bob' };

interface Body {
  readonly message?: string;
  readonly data: { readonly id: string; readonly attributes?: object };
  readonly meta: { readonly total: number; readonly count: number };
}

const database = useTestDatabase();
const inFolder = useFolder('time-logs-bound-');
let service: ServiceHere | undefined;
let settings: Record<string, string>;
let [ada, adaAtLevel1, adaInOne, lost, boss, rounded, ofOtherType] = ['', '', '', '', '', '', ''];

const restart = async (env: Record<string, string>) => {
  await service?.end();
  service = await startHere(env);
};
const send = async (token: string, method: string, path: string, sent?: unknown, headers = {}) => {
  const target = { port: service!.port, token };
  const answer = await sendUnchecked(target, method, TIME_LOGS + path, sent, headers);
  return { ...answer, body: (answer.body ?? {}) as Body };
};
const outcome = async (...request: Parameters<typeof send>) => {
  const { status, body } = await send(...request);
  return [status, body.message];
};
const create = (token: string, attributes?: unknown, values = {}) =>
  send(token, 'POST', '', { ...LOG, ...values, attributes });
const pathOf = async (...created: Parameters<typeof create>) => `/${(await create(...created)).body.data.id}`;
const attributesOf = async (path: string) => (await send(boss, 'GET', path)).body.data.attributes;
/** Requests of each kind, on a log and on all. */
const requestsOn = (own: string, log: object = LOG) =>
  [
    ['POST', '', log],
    ['POST', '/batch', { timeLogs: [log] }],
    ['PUT', own, log],
    ['PATCH', own, { duration: 2 }],
    ['PATCH', own, { attributes: null }],
    ['DELETE', own],
    ...['', '/totals', '/export', own].map((read) => ['GET', read] as const),
  ] as const;
/** Holds that a caller is refused by each request on a log, and has its feed refused too. */
const expectNotDeclared = async (token: string, own: string, log?: object) => {
  for (const [method, path, sent] of requestsOn(own, log))
    expect([method, path, await outcome(token, method, path, sent)]).toEqual([method, path, NOT_DECLARED]);
  expect((await send(token, 'GET', '/events')).status).toBe(403);
};
const countOf = async () => (await send(boss, 'GET', '?limit=1')).body.meta.total;

beforeAll(async () => {
  const file = inFolder('schema.json');
  await writeFile(file, JSON.stringify(SCHEMA));
  settings = { DATABASE_URL: database.url, ATTRIBUTES_SCHEMA: file };
  const bounds = ['userId=ada', 'level=1.0'].flatMap((value) => ['--attribute', value]);
  adaAtLevel1 = lastLineOf(await runHere('token', ['create', '--name', 'by command', ...bounds], settings));
  await restart(settings);
  const tokens = service!.app.get(AccessTokenService);
  const make = async (bound: Pick<NewAccessToken, 'attributes' | 'projects'> = {}) =>
    (await tokens.create({ name: 'of a test', scopes, ...bound })).token;
  ada = await make({ attributes: ADA });
  adaInOne = await make({ attributes: ADA, projects: [PROJECT] });
  lost = await make({ attributes: { ...ADA, team: 1 } });
  boss = await make();
  rounded = await make({ attributes: { level: Number('653247040368672800') } });
  ofOtherType = await make({ attributes: { level: '1' } });
});

describe('a caller bound to a value of an attribute', () => {
  it.each([
    [undefined, ADA],
    [ADA, ADA],
    [{ note: [1] }, { ...ADA, note: [1] }],
    [BOB, NOT_ALLOWED],
    [{ userId: 'Ada' }, NOT_ALLOWED],
    [{ userId: ['ada'] }, [400, 'attributes.userId must be a string']],
  ])('creates with the attributes %j: %j', async (attributes, expected) => {
    const before = await countOf();
    const log = { ...LOG, attributes };
    const [plain, batch] = [
      await create(ada, attributes),
      await send(ada, 'POST', '/batch', { timeLogs: [LOG, log] }),
    ];
    if (Array.isArray(expected)) {
      expect([plain.status, plain.body.message]).toEqual(expected);
      expect(batch.status).toBe(expected[0]);
      expect(batch.body.message).toContain(expected[1]);
      expect(await countOf()).toBe(before);
      return;
    }
    expect([plain.status, plain.body.data.attributes]).toEqual([201, expected]);
    const logs = batch.body.data as unknown as Body['data'][];
    expect(logs.map(({ attributes: stored }) => stored)).toEqual([ADA, expected]);
    for (const { id } of [plain.body.data, logs[1]!]) expect(await attributesOf(`/${id}`)).toEqual(expected);
  });

  it('knows a key with its own value, sent or not', async () => {
    const key = { 'idempotency-key': randomUUID() };
    const { body } = await send(ada, 'POST', '', LOG, key);
    const again = await send(ada, 'POST', '', { ...LOG, attributes: ADA }, key);
    expect([again.body, again.headers.get('idempotency-replayed')]).toEqual([body, 'true']);
    expect(await outcome(ada, 'POST', '', { ...LOG, attributes: BOB }, key)).toEqual(NOT_ALLOWED);
    expect((await send(ada, 'POST', '', { ...LOG, attributes: { note: 1 } }, key)).status).toBe(422);
  });

  const changed = { duration: 7 };
  it.each([
    ['PUT', undefined, { ...ADA, note: 1 }],
    ['PUT', { note: 2 }, { ...ADA, note: 2 }],
    ['PUT', BOB, NOT_ALLOWED],
    ['PATCH', undefined, { ...ADA, note: 1 }],
    ['PATCH', null, ADA],
    ['PATCH', { userId: null }, { ...ADA, note: 1 }],
    ['PATCH', { note: { a: 2 } }, { ...ADA, note: { a: 2 } }],
    ['PATCH', BOB, NOT_ALLOWED],
    ['PATCH', 7, [400, 'attributes must be an object']],
  ])('%s with the attributes %j: %j', async (method, attributes, expected) => {
    const sent = { ...(method === 'PUT' && LOG), ...changed, attributes };
    const kept = { ...ADA, note: 1 };
    const own = await pathOf(boss, kept);
    const { headers } = await send(ada, 'GET', own);
    const isRefused = Array.isArray(expected);
    const stale = { 'if-match': '"x"' };
    expect(await outcome(ada, method, own, sent, stale)).toEqual(isRefused ? expected : CHANGED);
    expect(await attributesOf(own)).toEqual(kept);
    const corrected = await send(ada, method, own, sent, { 'if-match': headers.get('etag')! });
    expect([corrected.status, corrected.body.message]).toEqual(isRefused ? expected : OK);
    expect(await attributesOf(own)).toEqual(isRefused ? kept : expected);

    for (const attributesOfOthers of [{ ...BOB, note: 1 }, undefined]) {
      const foreign = await pathOf(boss, attributesOfOthers);
      for (const condition of [{}, stale]) {
        const isChecked = isRefused && method === 'PUT';
        const refused = await outcome(ada, method, foreign, sent, condition);
        expect(refused).toEqual(isChecked ? expected : NOT_THERE);
      }
      expect(await attributesOf(foreign)).toEqual(attributesOfOthers);
    }
  });

  it('gets and deletes its own logs alone', async () => {
    const own = await pathOf(ada);
    for (const foreign of [await pathOf(boss, BOB), await pathOf(boss), `/${randomUUID()}`])
      for (const method of ['GET', 'DELETE']) expect(await outcome(ada, method, foreign)).toEqual(NOT_THERE);
    expect(await outcome(ada, 'GET', own)).toEqual(OK);
    expect(await outcome(ada, 'DELETE', own, undefined, { 'if-match': '"x"' })).toEqual(CHANGED);
    expect((await send(ada, 'DELETE', own)).status).toBe(204);
    expect(await outcome(ada, 'DELETE', own)).toEqual(NOT_THERE);
  });

  it('has no feed', async () => {
    const refused = [403, 'the feed needs a token without bound attributes'];
    for (const query of ['', `?projectId=${PROJECT}`])
      expect(await outcome(ada, 'GET', `/events${query}`)).toEqual(refused);
    const { headers } = await send(ada, 'GET', '/events');
    expect(headers.get('www-authenticate')).toMatch(/, error="insufficient_scope"$/);
  });
});

describe('reads', () => {
  const [mine, other] = [randomUUID(), randomUUID()];
  beforeAll(async () => {
    for (const [projectId, attributes] of [
      [mine, ADA],
      [mine, { ...ADA, level: 1 }],
      [other, { ...ADA, level: 1, billable: false, constructor: '&+% ü😀' }],
      [mine, BOB],
      [other, { ...BOB, level: 1 }],
      [mine, undefined],
    ] as const)
      await create(boss, attributes, { projectId });
  });

  it.each([
    ['', [6, 3, 2]],
    [`&attributes.userId=ada`, [3, 3, 2]],
    [`&attributes.userId=bob`, [2, 0, 0]],
    [`&attributes.level=10e-1`, [3, 2, 2]],
    [`&attributes.level=-0`, [0, 0, 0]],
    [`&attributes.constructor=%EF%BF%BD`, [0, 0, 0]],
    [`&attributes.constructor=${encodeURIComponent('&+% ü😀')}`, [1, 1, 1]],
    [`&attributes.userId=ada&attributes.level=1&attributes.billable=false`, [1, 1, 1]],
  ])('of lists, totals and exports with %s: %j', async (query, counts) => {
    const projects = `?projectId=${mine},${other}${query}`;
    for (const [index, token] of [boss, ada, adaAtLevel1].entries()) {
      const page = await send(token, 'GET', `${projects}&limit=1`);
      expect([page.status, page.body.meta.total]).toEqual([200, counts[index]]);
      const [, last] = /<([^>]+)>; rel="last"/.exec(page.headers.get('link')!)!;
      expect((await send(token, 'GET', last!)).body.meta).toMatchObject({ total: counts[index] });
      for (const by of ['', '&by=project', '&by=day']) {
        const { body } = await send(token, 'GET', `/totals${projects}${by}`);
        expect(body.meta.count).toBe(counts[index]);
        const groups = body.data as unknown as Body['meta'][];
        if (by !== '') expect(groups.reduce((sum, { count }) => sum + count, 0)).toBe(counts[index]);
      }
      const { text, headers } = await send(token, 'GET', `/export${projects}&format=ndjson`);
      expect(text.split('\n')).toHaveLength(counts[index]! + 1);
      expect(headers.has('last-event-id')).toBe(token === boss && query === '');
    }
  });
});

it('stores and binds no number that JavaScript would round', async () => {
  const number = '653247040368672769';
  const message = 'attributes must not contain a number above 9007199254740991 in magnitude: use a string';
  const own = await pathOf(boss, ADA);
  const json = JSON.stringify({ ...LOG, attributes: { note: [{ a: '#' }] } }).replace('"#"', number);
  for (const [method, path] of [
    ['POST', ''],
    ['PUT', own],
    ['PATCH', own],
  ] as const)
    expect(await outcome(boss, method, path, json)).toEqual([400, message]);
  expect(await attributesOf(own)).toEqual(ADA);
  const args = ['create', '--name', 'x', '--attribute', `level=${number}`];
  expect(await runHere('token', args, settings)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('attributes.level must be at most 9007199254740991 in magnitude'),
  });
});

it('gives a token that an earlier version has bound to a rounded number nothing', async () => {
  const own = await pathOf(boss, { ...ADA, level: 1 });
  const before = await countOf();
  expect((await send(rounded, 'GET', '')).body.meta.total).toBe(0);
  expect((await send(rounded, 'GET', '/totals')).body.meta.count).toBe(0);
  expect((await send(rounded, 'GET', '/export?format=ndjson')).text).toBe('');
  expect(await outcome(rounded, 'POST', '', LOG)).toEqual(NOT_THIS_PROJECT);
  for (const [method, sent] of [['GET'], ['PUT', LOG], ['PATCH', { duration: 2 }], ['DELETE']] as const)
    expect((await outcome(rounded, method, own, sent))[0]).toBe(method === 'PUT' ? 403 : 404);
  expect([await countOf(), await attributesOf(own)]).toEqual([before, { ...ADA, level: 1 }]);
});

it('refuses a caller that is bound to a value of another type', async () => {
  const own = await pathOf(boss, { ...ADA, level: 1 });
  for (const [method, path, sent] of [
    ['GET', ''],
    ['GET', own],
    ['PATCH', own, { duration: 2 }],
    ['DELETE', own],
  ] as const)
    expect(await outcome(ofOtherType, method, path, sent)).toEqual(NOT_DECLARED);
  expect(await outcome(ofOtherType, 'POST', '', LOG)).toEqual([400, 'attributes.level must be a number']);
});

it('obeys both bounds together', async () => {
  const values = { projectId: OTHER_PROJECT };
  expect((await create(adaInOne)).body.data.attributes).toEqual(ADA);
  expect(await outcome(adaInOne, 'POST', '', { ...LOG, ...values })).toEqual(NOT_THIS_PROJECT);
  expect(await outcome(adaInOne, 'POST', '', { ...LOG, attributes: BOB })).toEqual(NOT_ALLOWED);
  const own = await pathOf(adaInOne);
  expect(await outcome(adaInOne, 'PATCH', own, values)).toEqual(NOT_THIS_PROJECT);
  for (const foreign of [await pathOf(boss, BOB), await pathOf(boss, ADA, values)])
    for (const [method, sent] of [['GET'], ['PUT', LOG], ['PATCH', { duration: 2 }], ['DELETE']] as const)
      expect(await outcome(adaInOne, method, foreign, sent)).toEqual(NOT_THERE);
  for (const path of ['', '/totals', '/export'])
    expect(await outcome(adaInOne, 'GET', `${path}?projectId=${OTHER_PROJECT}`)).toEqual(NOT_THIS_PROJECT);
  const { text } = await send(adaInOne, 'GET', '/export?format=ndjson');
  for (const line of text.split('\n').slice(0, -1))
    expect(JSON.parse(line)).toMatchObject({ projectId: PROJECT, attributes: ADA });
});

it('refuses a caller that is bound to an attribute without a filter, and stores nothing', async () => {
  const own = await pathOf(boss, ADA);
  const before = await countOf();
  for (const attributes of [undefined, {}, ADA]) await expectNotDeclared(lost, own, { ...LOG, attributes });
  expect([await countOf(), await attributesOf(own)]).toEqual([before, ADA]);
});

it.each<[query: string, message: unknown]>([
  ...['1e400', '-9007199254740993', '0.10000000000000000001'].map((level): [string, string] => [
    `attributes.level=${level}`,
    'attributes.level must be at most 9007199254740991 in magnitude, and exact as a double: use a string',
  ]),
  ['attributes.level=Infinity', 'attributes.level must be a number'],
  ['attributes.billable=1', 'attributes.billable must be true or false'],
  ['attributes.userId=a%E0%A4', 'attributes.userId must be percent-encoded UTF-8'],
  ['attributes.userId%FF=ada', expect.stringContaining('unknown parameter: attributes.userId%FF')],
  ['attributes.userId=%00', 'attributes.userId must not contain U+0000'],
  [`attributes.userId=${'a'.repeat(256)}`, 'attributes.userId must be at most 255 characters'],
  ['attributes.userId=a&attributes.userId=a', 'attributes.userId must not be repeated'],
  ['attributes.userid=ada', expect.stringContaining('unknown parameter: attributes.userid')],
  ['attributes.note=1', expect.stringContaining('unknown parameter: attributes.note')],
  ['attributes.__proto__=1', expect.stringContaining('unknown parameter: attributes.__proto__')],
  ['attributes[userId]=ada', expect.stringContaining('unknown parameter: attributes[userId]')],
  [
    'attributes.userId=a&attributes.level=1&attributes.billable=true&attributes.constructor=a',
    'attributes must be at most 3 in one filter',
  ],
])('refuses the filter %.60s', async (query, message) => {
  for (const token of [boss, ada])
    for (const path of ['', '/totals', '/export'])
      expect(await outcome(token, 'GET', `${path}?${query}`)).toEqual([400, message]);
});

it('stores and shows nothing for a bound caller in a service without a schema', async () => {
  const own = await pathOf(boss, ADA);
  const before = await countOf();
  await restart({ DATABASE_URL: database.url });
  await expectNotDeclared(ada, own);
  expect(await outcome(ada, 'POST', '', { ...LOG, attributes: ADA })).toEqual([
    400,
    'unknown field: attributes',
  ]);
  const { status, body } = await send(boss, 'GET', own);
  expect([await countOf(), status]).toEqual([before, 200]);
  expect((body as { data: object }).data).not.toHaveProperty('attributes');
  await restart(settings);
});
