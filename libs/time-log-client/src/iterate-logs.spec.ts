import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { iterateLogs, type PageRequest } from './iterate-logs.js';

/** A change between two pages: logs are recorded or deleted at a position of the list. */
type Change =
  { readonly insert: number; readonly at: number } | { readonly remove: number; readonly at: number };

/** A list with pages in a fixed order, like that of the service. */
class FakeList {
  readonly requests: PageRequest[] = [];
  private recorded = 0;
  logs: { id: string }[] = [];

  constructor(size: number) {
    this.change({ insert: size, at: 0 });
  }

  change(change: Change): void {
    const index = Math.floor(change.at * (this.logs.length + 1));
    if ('remove' in change) this.logs.splice(index, change.remove);
    else
      this.logs.splice(
        index,
        0,
        ...Array.from({ length: change.insert }, () => ({ id: `${this.recorded++}` })),
      );
  }

  /** Returns a function that reads a page, and then makes the next change. */
  reader(changes: readonly Change[] = []) {
    const remaining = [...changes];
    return async (request: PageRequest) => {
      this.requests.push(request);
      const begin = (request.page - 1) * request.limit;
      const page = { data: this.logs.slice(begin, begin + request.limit) };
      const change = remaining.shift();
      if (change) this.change(change);
      return page;
    };
  }
}

async function idsOf(logs: AsyncIterable<{ id: string }>): Promise<string[]> {
  const ids = [];
  for await (const { id } of logs) ids.push(id);
  return ids;
}

const RUNS = 30;
const anywhere = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const inserted = fc.record({ insert: fc.integer({ min: 1, max: 400 }), at: anywhere });
const removed = fc.record({ remove: fc.integer({ min: 1, max: 120 }), at: anywhere });
const size = fc.integer({ min: 0, max: 500 });
const pageSize = fc.integer({ min: 50, max: 130 });

describe('iterateLogs', () => {
  it.each([0, 1, 49, 50, 51, 99, 100, 1_000])(
    'yields the %d logs of a list that does not change, in order',
    async (count) => {
      const list = new FakeList(count);
      const ids = list.logs.map(({ id }) => id);
      expect(await idsOf(iterateLogs(list.reader(), 50))).toEqual(ids);
      expect(list.requests.length).toBeLessThanOrEqual(1 + Math.ceil(count / 40));
    },
  );

  it('yields each log once and in order while any number of logs are recorded anywhere', async () => {
    await fc.assert(
      fc.asyncProperty(
        size,
        pageSize,
        fc.array(inserted, { maxLength: 12 }),
        async (count, limit, changes) => {
          const list = new FakeList(count);
          const before = list.logs.map(({ id }) => id);
          const ids = await idsOf(iterateLogs(list.reader(changes), limit));
          expect(new Set(ids).size).toBe(ids.length);
          expect(ids.filter((id) => before.includes(id))).toEqual(before);
          const order = list.logs.map(({ id }) => id);
          expect(ids).toEqual(order.filter((id) => ids.includes(id)));
        },
      ),
      { numRuns: RUNS },
    );
  });

  it('yields each remaining log once while logs are deleted, or rejects with LIST_CHANGED', async () => {
    let [listed, gaveUp] = [0, 0];
    await fc.assert(
      fc.asyncProperty(
        size,
        pageSize,
        fc.array(fc.oneof(inserted, removed), { maxLength: 8 }),
        async (count, limit, changes) => {
          const list = new FakeList(count);
          const before = list.logs.map(({ id }) => id);
          const ids: string[] = [];
          try {
            for await (const { id } of iterateLogs(list.reader(changes), limit)) ids.push(id);
            const after = new Set(list.logs.map(({ id }) => id));
            for (const id of before) if (after.has(id)) expect(ids).toContain(id);
            listed++;
          } catch (error) {
            expect(error).toMatchObject({ code: 'LIST_CHANGED' });
            gaveUp++;
          }
          expect(new Set(ids).size).toBe(ids.length);
        },
      ),
      { numRuns: RUNS },
    );
    expect(listed).toBeGreaterThan(gaveUp);
  });

  it('rejects if the last log is deleted', async () => {
    const list = new FakeList(300);
    await expect(idsOf(iterateLogs(list.reader([{ remove: 50, at: 0 }]), 50))).rejects.toMatchObject({
      name: 'TimeLogError',
      code: 'LIST_CHANGED',
      message: 'the last listed log was deleted: list again',
    });
  });
});
