import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Answer, dataOf, HttpClient, messageOf, TIME_LOGS } from '../support/http-client.js';
import { bodyOfOddMembers, damagedBody, oddQuery, oddRequest } from '../support/mutants.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

/** A failure prints the seed and the smallest mutant that fails; put the seed here to see it again. */
const parameters: { seed?: number } = {
  ...(process.env.FUZZ_SEED && { seed: Number(process.env.FUZZ_SEED) }),
};

let app: TestApp;
let client: HttpClient;

beforeAll(async () => {
  app = await startTestApp();
  client = new HttpClient(app.port, app.token);
});
/** Whatever came before, the next valid request is served. */
afterEach(async () => {
  expect((await client.post(JSON.stringify(VALID))).status).toBe(201);
  expect((await client.get(TIME_LOGS)).status).toBe(200);
});
afterAll(async () => {
  client.close();
  await app.close();
});

const VALID = { projectId: '11111111-1111-1111-1111-111111111111', duration: 1, date: '2026-01-31' };

/** True for an answer that looked at values: past authentication, media type and JSON. */
function lookedAtValues(answer: Answer): boolean {
  if (answer.status !== 400) return answer.status < 300;
  return /^(projectId|duration|description|date|from|to|page|limit) must|^from must|^unknown (field|parameter)/.test(
    messageOf(answer),
  );
}

/** What a body states, as any reader of JSON would understand it. */
function statedBy(body: Buffer): Record<string, unknown> {
  const { projectId, description, ...rest } = JSON.parse(body.toString()) as Record<string, unknown>;
  return { projectId: String(projectId).toLowerCase(), description: description ?? '', ...rest };
}

it('keeps what it accepts of bodies with odd members, and refuses the rest in the form of the contract', async () => {
  const accepted = new Map<string, Record<string, unknown>>();
  let [sent, deep] = [0, 0];
  const property = fc.asyncProperty(bodyOfOddMembers, async (body) => {
    const answer = await client.post(body);
    sent++;
    if (lookedAtValues(answer)) deep++;
    expect([201, 400]).toContain(answer.status);
    if (answer.status !== 201) return;
    const { id, createdAt, ...values } = dataOf(answer) as Record<string, unknown>;
    expect(values).toEqual(statedBy(body));
    accepted.set(id as string, { id, createdAt, ...values });
  });
  await fc.assert(property, { ...parameters, numRuns: 1200 });
  expect(deep / sent).toBeGreaterThanOrEqual(0.5);
  expect(accepted.size).toBeGreaterThan(30);

  const listed = dataOf(await client.get(`${TIME_LOGS}?limit=1000`)) as { id: string }[];
  for (const item of listed) {
    if (!accepted.has(item.id)) continue;
    expect({ ...accepted.get(item.id), date: undefined }).toEqual({ ...item, date: undefined });
    accepted.delete(item.id);
  }
  expect([...accepted.values()]).toEqual([]);
});

it('survives bodies with damaged bytes', async () => {
  const property = fc.asyncProperty(damagedBody, async (body) => {
    const answer = await client.post(body);
    expect([201, 400]).toContain(answer.status);
    if (answer.status === 201) expect(dataOf(answer)).toMatchObject(statedBy(body));
  });
  await fc.assert(property, { ...parameters, numRuns: 400 });
});

it('applies or refuses every parameter of an odd query', async () => {
  let [sent, deep] = [0, 0];
  const property = fc.asyncProperty(oddQuery, async (query) => {
    const answer = await client.get(`${TIME_LOGS}?${query}`);
    sent++;
    if (lookedAtValues(answer)) deep++;
    expect([200, 400]).toContain(answer.status);
  });
  await fc.assert(property, { ...parameters, numRuns: 600 });
  expect(deep / sent).toBeGreaterThanOrEqual(0.9);
});

it('answers odd methods, paths and headers in the form of the contract, or closes', async () => {
  const statuses = new Set<number | undefined>();
  const property = fc.asyncProperty(oddRequest(app.token), async ({ method, bytes }) => {
    statuses.add((await client.raw(bytes, method))?.status);
  });
  await fc.assert(property, { ...parameters, numRuns: 400 });
  for (const status of [400, 401, 404, 405]) expect(statuses).toContain(status);
  expect(statuses).not.toContain(undefined);
});
