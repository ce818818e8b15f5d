import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { PageRequest, Period, TimeLogService, TotalsService } from '../support/compiled.js';
import { timesOf } from '../support/extent.js';
import { expectedItem, expectedLog, type Made } from '../support/expected-logs.js';
import { create, dataOf, list, LOG, outcome, TIME_LOGS } from '../support/requests.js';
import { useTestApp } from '../support/test-app.js';

const app = useTestApp();

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

it('any valid log is created as it was sent, and listed as it was created', async () => {
  const log = fc.record(
    { projectId: anyUuid, duration: anyDuration, description: anyDescription, date: anyDay },
    { requiredKeys: ['projectId', 'duration', 'date'] },
  );
  const property = fc.asyncProperty(log, async (sent) => {
    const answer = await create(app, sent);
    const created = dataOf(answer) as Made & { id: string; createdAt: string };
    expect(outcome(answer)).toEqual([201, { success: true, data: expectedLog(sent, created) }]);
    expect(created.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(Number.parseInt(created.id.replace('-', '').slice(0, 12), 16)).toBe(Date.parse(created.createdAt));
    const { body } = await list(app, `projectId=${sent.projectId}&from=${sent.date}&to=${sent.date}&limit=1`);
    expect(body).toEqual({
      success: true,
      data: [expectedItem(sent, created)],
      meta: { total: expect.any(Number), page: 1, limit: 1 },
    });
  });
  await fc.assert(property, { numRuns: timesOf(400, 60) });
});

it('any sum is written out with every digit, as it is known in process', async () => {
  const service = app.app.get(TimeLogService);
  const durations = fc.array(
    fc.oneof(
      fc.constantFrom(0.1, 0.2, 1.5, 100, Number.MIN_VALUE, Number.MAX_VALUE, 1e21, 1e-7),
      fc.double({ min: Number.MIN_VALUE, noNaN: true, noDefaultInfinity: true }),
    ),
    { minLength: 1, maxLength: 5 },
  );
  const property = fc.asyncProperty(durations, async (some) => {
    const projectId = randomUUID();
    for (const duration of some) await service.record({ ...LOG, projectId, duration });
    const filter = { projectIds: [projectId], period: Period.of() };
    const { whole, groups } = await app.app.get(TotalsService).totals(filter, 'month', PageRequest.of(1, 50));
    // What `send` holds to the document is read as doubles: the largest sums are none.
    const response = await fetch(`${app.url}${TIME_LOGS}/totals?projectId=${projectId}&by=month`, {
      headers: { authorization: `Bearer ${app.token}` },
    });
    const written = [...(await response.text()).matchAll(/"duration":([^,}]*)/g)].map(([, digits]) => digits);
    expect(written).toEqual([...groups, whole].map(({ duration }) => duration));
    for (const digits of written) expect(digits).toMatch(/^(0|[1-9]\d*)(\.\d*[1-9])?$/);
    expect(Number(whole.duration)).toBe(nearest(some));
  });
  await fc.assert(property, { numRuns: 50 });
});

/** The double that is nearest to the sum of the shortest decimals. */
function nearest(durations: readonly number[]): number {
  const scale = 324;
  const sum = durations.reduce((all, duration) => {
    const [digits = '', exponent = '0'] = duration.toExponential().split('e');
    const decimals = digits.length > 1 ? digits.length - 2 : 0;
    return all + BigInt(digits.replace('.', '')) * 10n ** BigInt(scale + Number(exponent) - decimals);
  }, 0n);
  return Number(`${sum}e-${scale}`);
}
