import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { timesOf } from '../../support/extent.js';
import { expectedLog } from '../../support/expected-logs.js';
import {
  type Answer,
  create,
  dataOf,
  list,
  messageOf,
  outcome,
  send,
  sendBytes,
  TIME_LOGS,
} from '../../support/requests.js';
import { anyQuery, bodyOfAnyJson, bodyOfOddMembers, damagedBody, oddQuery, oddRequest } from './mutants.js';
import { oddCreate } from './odd-headers.js';
import { isRefused, type KeptLog, verdictOnBody, verdictOnQuery } from './oracle.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';

/** A failure prints the seed and the smallest mutant that fails; put the seed here to see it again. */
const parameters: { seed?: number } = {
  ...(process.env.FUZZ_SEED && { seed: Number(process.env.FUZZ_SEED) }),
};

/** Each property takes so many, times its share. Part of them, at least, must be good. */
const ROUNDS = timesOf(200, 50);

let app: TestApp;

beforeAll(async () => {
  app = await startTestApp();
});
/** Whatever came before, the next valid request is served. */
afterEach(async () => {
  expect((await create(app, VALID)).status).toBe(201);
  expect((await list(app)).status).toBe(200);
});
afterAll(() => app.close());

type Created = KeptLog['values'] & { readonly id: string; readonly createdAt: string };

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const PATHS = { list: TIME_LOGS, totals: `${TIME_LOGS}/totals` };
const VALID = { projectId: '11111111-1111-1111-1111-111111111111', duration: 1, date: '2026-01-31' };

/** Holds the answer to a create against what the interface asks for; the log as it was answered, where it was made. */
function expectVerdict(answer: Answer, body: Buffer): Created | undefined {
  const verdict = verdictOnBody(body);
  if (isRefused(verdict)) {
    expect([answer.status, messageOf(answer)]).toEqual([400, expect.stringMatching(verdict.message)]);
    return undefined;
  }
  expect(outcome(answer)).toEqual([201, expect.anything()]);
  const created = dataOf(answer) as Created;
  expect(created).toEqual(expectedLog(verdict.values, created));
  return created;
}

it.each([
  ['odd members', bodyOfOddMembers, 12, 0.01],
  ['any JSON', bodyOfAnyJson, 4, 0],
  ['damaged bytes', damagedBody, 8, 0.001],
])(
  'makes the log that a body of %s states, or says what is wrong with it',
  async (_what, bodies, shares, part) => {
    const accepted = new Map<string, Created>();
    const property = fc.asyncProperty(bodies, async (body) => {
      const created = expectVerdict(await create(app, body), body);
      if (created) accepted.set(created.id, created);
    });
    await fc.assert(property, { ...parameters, numRuns: shares * ROUNDS });
    expect(accepted.size).toBeGreaterThanOrEqual(part * shares * ROUNDS);

    const listed = dataOf(await list(app, 'limit=1000')) as { id: string }[];
    for (const item of listed) {
      if (!accepted.has(item.id)) continue;
      expect({ ...accepted.get(item.id), date: undefined }).toEqual({ ...item, date: undefined });
      accepted.delete(item.id);
    }
    expect([...accepted.values()]).toEqual([]);
  },
);

it.each([
  ['list', 'odd parameters', oddQuery, 6, 0.03],
  ['list', 'any characters', anyQuery, 4, 0.01],
  ['totals', 'odd parameters', oddQuery, 6, 0.05],
  ['totals', 'any characters', anyQuery, 2, 0.01],
] as const)(
  'applies every parameter of a query (%s) of %s, or says what is wrong with it',
  async (operation, _what, queries, shares, part) => {
    let applied = 0;
    const property = fc.asyncProperty(queries, async (query) => {
      const verdict = verdictOnQuery(query, operation);
      const answer = await send(app, `${PATHS[operation]}?${query}`);
      if (isRefused(verdict)) {
        expect([answer.status, messageOf(answer)]).toEqual([400, expect.stringMatching(verdict.message)]);
        return;
      }
      applied++;
      expect(answer.status).toBe(200);
      const { page, limit, filter } = verdict;
      expect(answer.body).toMatchObject({ meta: { page, limit } });
      const [, first = ''] = /^<[^>?]*\?([^>]*)>; rel="first"/.exec(answer.headers.get('link') ?? '') ?? [];
      expect(Object.fromEntries(new URLSearchParams(first))).toEqual({
        ...filter,
        page: '1',
        limit: String(limit),
      });
    });
    await fc.assert(property, { ...parameters, numRuns: shares * ROUNDS });
    expect(applied).toBeGreaterThanOrEqual(part * shares * ROUNDS);
  },
);

it('looks at the headers of a create in their order, whatever they hold', async () => {
  const statuses = new Set<number>();
  const property = fc.asyncProperty(oddCreate(app.token, JSON.stringify(VALID)), async (odd) => {
    const answer = await sendBytes(app, Buffer.from(odd.text, 'latin1'));
    expect(outcome(answer!)).toEqual([odd.status, expect.anything()]);
    // What is no HTTP may be answered before there is an id.
    if (odd.status !== 400)
      expect(answer!.headers.get('x-request-id')).toEqual(odd.requestId ?? expect.stringMatching(UUID));
    if (odd.status === 201) expect(dataOf(answer!)).toMatchObject(VALID);
    statuses.add(odd.status);
  });
  await fc.assert(property, { ...parameters, numRuns: 800 });
  expect([...statuses].sort()).toEqual([201, 400, 401, 413, 415, 417]);
});

it('answers odd methods, paths and headers in the form of the contract', async () => {
  const statuses = new Set<number | undefined>();
  const property = fc.asyncProperty(oddRequest(app.token), async (bytes) => {
    statuses.add((await sendBytes(app, bytes))?.status);
  });
  await fc.assert(property, { ...parameters, numRuns: 400 });
  for (const status of [400, 401, 404, 405]) expect(statuses).toContain(status);
  expect([...statuses].filter((status) => status === undefined || status >= 500)).toEqual([]);
});
