import { afterEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { timesOf } from '../support/extent.js';
import { expectedItem, expectedLog } from '../support/expected-logs.js';
import { create as send, dataOf, list as listed, outcome } from '../support/requests.js';
import { useTestApp } from '../support/test-app.js';

interface Created {
  readonly id: string;
  readonly projectId: string;
  readonly duration: number;
  readonly description: string;
  readonly date: string;
  readonly createdAt: string;
}

const app = useTestApp();
afterEach(() => app.dataSource.query('truncate time_logs'));

/** Any day from 0001-01-01 to 9999-12-31. */
const anyDay = fc
  .integer({ min: Date.parse('0001-01-01') / 86_400_000, max: Date.parse('9999-12-31') / 86_400_000 })
  .map((day) => new Date(day * 86_400_000).toISOString().slice(0, 10));

const anyUuid = fc.mixedCase(
  fc.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/),
);
const anyDuration = fc.double({ min: Number.MIN_VALUE, noNaN: true, noDefaultInfinity: true });
const anyDescription = fc
  .oneof(fc.string({ unit: 'binary', maxLength: 200 }), fc.string({ unit: 'grapheme', maxLength: 200 }))
  .filter((text) => !text.includes('\0') && text.isWellFormed());

async function create(log: object): Promise<Created> {
  const answer = await send(app, log);
  expect(outcome(answer)).toEqual([201, expect.anything()]);
  return dataOf(answer) as Created;
}

async function list(query: Record<string, string | number | undefined>): Promise<unknown> {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  return (await listed(app, new URLSearchParams(given).toString())).body;
}

describe('any valid log', () => {
  it('is created as it was sent, and listed as it was created', async () => {
    const log = fc.record(
      { projectId: anyUuid, duration: anyDuration, description: anyDescription, date: anyDay },
      { requiredKeys: ['projectId', 'duration', 'date'] },
    );
    const property = fc.asyncProperty(log, async (sent) => {
      const created = await create(sent);
      const { id, createdAt } = created;
      expect(created).toEqual(expectedLog(sent, { id, createdAt }));
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(Number.parseInt(id.replace('-', '').slice(0, 12), 16)).toBe(Date.parse(createdAt));
      expect(await list({ projectId: sent.projectId, from: sent.date, to: sent.date, limit: 1 })).toEqual({
        success: true,
        data: [expectedItem(sent, created)],
        meta: { total: expect.any(Number), page: 1, limit: 1 },
      });
    });
    await fc.assert(property, { numRuns: timesOf(400, 60) });
  });
});

describe('any list', () => {
  // Few of each, so that filters meet logs.
  const project = fc.constantFrom(
    ...['0', '1', '2'].map((digit) => `00000000-0000-0000-0000-00000000000${digit}`),
  );
  const day = fc.constantFrom(
    '0001-01-01',
    '2026-01-30',
    '2026-01-31',
    '2026-02-01',
    '2026-02-02',
    '9999-12-31',
  );
  const logs = fc.array(fc.record({ projectId: project, date: day, duration: anyDuration }), {
    maxLength: 14,
  });
  const time = fc.constantFrom('', 'T00:00Z', 'T23:59:59.999-12:00', ' 12:00');
  const query = fc
    .record(
      {
        projectId: project,
        from: fc.tuple(day, time),
        to: fc.tuple(day, time),
        page: fc.integer({ min: 1, max: 5 }),
        limit: fc.integer({ min: 1, max: 8 }),
      },
      { requiredKeys: [] },
    )
    .filter(({ from, to }) => from === undefined || to === undefined || from[0] <= to[0]);
  type Query = typeof query extends fc.Arbitrary<infer T> ? T : never;

  /** The same list, worked out in memory. */
  function expected(all: readonly Created[], { projectId, from, to, page = 1, limit = 50 }: Query) {
    const matching = all
      .filter((log) => projectId === undefined || log.projectId === projectId)
      .filter(({ date }) => (from === undefined || date >= from[0]) && (to === undefined || date <= to[0]))
      .sort((a, b) => (a.date + a.id < b.date + b.id ? 1 : -1));
    return {
      success: true,
      data: matching.slice((page - 1) * limit, page * limit).map((log) => expectedItem(log, log)),
      meta: { total: matching.length, page, limit },
    };
  }

  it('holds what filters, order and paging make of the logs that were created', async () => {
    const property = fc.asyncProperty(
      logs,
      fc.array(query, { minLength: 3, maxLength: 6 }),
      async (sent, queries) => {
        await app.dataSource.query('truncate time_logs');
        const all: Created[] = [];
        for (const log of sent) all.push(await create(log));
        for (const asked of queries) {
          const parameters = { ...asked, from: asked.from?.join(''), to: asked.to?.join('') };
          expect(await list(parameters)).toEqual(expected(all, asked));
        }
      },
    );
    await fc.assert(property, { numRuns: timesOf(120, 20) });
  });
});
