import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { scopes } from '../../src/app.module.js';
import { Issuer, makeKey } from '../support/issuer.js';
import {
  correct,
  create,
  createAll,
  get,
  idOf,
  list,
  LOG,
  outcome,
  patch,
  PROJECT as OWN,
  refusal,
  remove,
  send,
  type Target,
  TIME_LOGS,
  totalOf,
} from '../support/requests.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const FOREIGN = 'b0000000-0000-4000-8000-00000000000f';
const NOT_ALLOWED = [403, refusal('FORBIDDEN', 'the token does not allow this project')];
const NOT_THERE = [404, refusal('NOT_FOUND', 'there is no time log with this id')];

let issuer: Issuer;
let app: TestApp;
beforeAll(async () => {
  issuer = await Issuer.start(await makeKey('ES256', 'key'));
  app = await startTestApp({ jwt: { ...issuer.settings, projectsClaim: 'teams' } });
});
afterAll(async () => {
  await app.close();
  await issuer.close();
});

const accessToken = async (projects?: string[]) =>
  (await app.tokens.create({ name: 'bound', scopes, ...(projects && { projects }) })).token;
const jwt = (teams?: unknown) => issuer.sign({ scope: scopes.join(' '), teams });
const as = (token: string): Target => ({ port: app.port, token });

/** Logs of our own project and of a foreign one; resolves with their ids. */
async function recordBoth(): Promise<[own: string, foreign: string]> {
  const made = [await create(app, LOG), await create(app, { ...LOG, projectId: FOREIGN })];
  return made.map(idOf) as [string, string];
}

describe.each([
  ['an access token', accessToken],
  ['a JWT', jwt],
] as const)('%s for one project', (_kind, tokenFor) => {
  it('reaches what is of that project, on every route', async () => {
    const token = await tokenFor([OWN.toUpperCase()]);
    const [own, foreign] = await recordBoth();
    const caller = as(token);
    expect((await create(caller)).status).toBe(201);
    const refused = await create(caller, { ...LOG, projectId: FOREIGN });
    expect(outcome(refused)).toEqual(NOT_ALLOWED);
    expect(refused.headers.get('www-authenticate')).toMatch(/, error="insufficient_scope"$/);
    const timeLogs = [LOG, { ...LOG, projectId: FOREIGN }];
    expect(outcome(await createAll(caller, { timeLogs }))).toEqual(NOT_ALLOWED);
    expect((await createAll(caller, { timeLogs: [...timeLogs, {}] })).status).toBe(400);
    expect((await createAll(caller, { timeLogs: [LOG] })).status).toBe(201);
    const total = await totalOf(app, `projectId=${OWN}`);
    expect(await totalOf(caller)).toBe(total);
    expect(await totalOf(caller, `projectId=${OWN}`)).toBe(total);
    expect(outcome(await list(caller, `projectId=${FOREIGN}`))).toEqual(NOT_ALLOWED);
    expect(outcome(await send(caller, `${TIME_LOGS}/totals?projectId=${FOREIGN}`))).toEqual(NOT_ALLOWED);
    expect((await send(caller, `${TIME_LOGS}/totals`)).body).toMatchObject({ meta: { count: total } });
    expect(outcome(await send(caller, `${TIME_LOGS}/events?projectId=${FOREIGN}`))).toEqual(NOT_ALLOWED);
    await eventually(async () => {
      const events = (await send(caller, `${TIME_LOGS}/events?limit=1000`)).body as {
        subject: string;
        data: { id: string };
      }[];
      expect(events.map(({ data }) => data.id)).toContain(own);
      expect(new Set(events.map(({ subject }) => subject))).toEqual(new Set([OWN]));
    });
    expect((await get(caller, own)).status).toBe(200);
    expect((await correct(caller, own)).status).toBe(200);
    expect(outcome(await correct(caller, own, { ...LOG, projectId: FOREIGN }))).toEqual(NOT_ALLOWED);
    expect((await patch(caller, own, { duration: 2 })).status).toBe(200);
    expect(outcome(await patch(caller, own, { projectId: FOREIGN }))).toEqual(NOT_ALLOWED);
    expect((await remove(caller, own)).status).toBe(204);
    expect(outcome(await get(caller, foreign))).toEqual(NOT_THERE);
    expect(outcome(await correct(caller, foreign))).toEqual(NOT_THERE);
    expect(outcome(await remove(caller, foreign))).toEqual(NOT_THERE);
    expect(outcome(await patch(caller, foreign, { duration: 2 }))).toEqual(NOT_THERE);
    expect(outcome(await correct(caller, foreign, LOG, { 'if-match': '"x"' }))).toEqual(NOT_THERE);
  });
});

it.each([
  ['a JWT without the claim', () => jwt()],
  ['a JWT whose claim is not a set of projects', () => jwt([OWN, 'x'])],
  [
    'an access token that SQL has bound to more than 100',
    () => accessToken([OWN, ...Array.from({ length: 100 }, () => randomUUID())]),
  ],
] as const)('%s sees nothing', async (_kind, tokenFor) => {
  const token = await tokenFor();
  const [own] = await recordBoth();
  expect(await totalOf(as(token))).toBe(0);
  expect(outcome(await create(as(token)))).toEqual(NOT_ALLOWED);
  expect(outcome(await get(as(token), own))).toEqual(NOT_THERE);
  const feed = await send(as(token), `${TIME_LOGS}/events`);
  expect([feed.text, feed.headers.get('link')]).toEqual([
    '[]',
    '<?limit=50>; rel="next", <?limit=50>; rel="last"',
  ]);
});

it('a JWT whose claim is ["*"] sees everything', async () => {
  const token = await jwt(['*']);
  const [, foreign] = await recordBoth();
  expect(await totalOf(as(token))).toBe(await totalOf(app));
  expect((await get(as(token), foreign)).status).toBe(200);
});
