import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { everyLog, pageFrom, type PageRequest } from './every-log.js';

/** What somebody else does between two pages: records logs before the one at a place, or deletes some from there on. */
type Change =
  { readonly insert: number; readonly at: number } | { readonly remove: number; readonly at: number };

/** A list as the service has it: in a fixed order, by pages. */
class FakeList {
  readonly requests: PageRequest[] = [];
  private recorded = 0;
  logs: { id: string }[] = [];

  constructor(size: number) {
    this.change({ insert: size, at: 0 });
  }

  change(change: Change): void {
    const place = Math.floor(change.at * (this.logs.length + 1));
    if ('remove' in change) this.logs.splice(place, change.remove);
    else
      this.logs.splice(
        place,
        0,
        ...Array.from({ length: change.insert }, () => ({ id: `${this.recorded++}` })),
      );
  }

  /** Reads a page, then lets the next change happen. */
  reader(changes: readonly Change[] = []) {
    const left = [...changes];
    return async (request: PageRequest) => {
      this.requests.push(request);
      const begin = (request.page - 1) * request.limit;
      const page = { data: this.logs.slice(begin, begin + request.limit) };
      const change = left.shift();
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

const anywhere = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const inserted = fc.record({ insert: fc.integer({ min: 1, max: 400 }), at: anywhere });
const removed = fc.record({ remove: fc.integer({ min: 1, max: 120 }), at: anywhere });
const size = fc.integer({ min: 0, max: 500 });
const pageSize = fc.integer({ min: 50, max: 130 });

describe('everyLog', () => {
  it.each([0, 1, 49, 50, 51, 99, 100, 1_000])(
    'brings the %d logs of a list that stands still, in its order',
    async (count) => {
      const list = new FakeList(count);
      const ids = list.logs.map(({ id }) => id);
      expect(await idsOf(everyLog(list.reader(), 50))).toEqual(ids);
      expect(list.requests.length).toBeLessThanOrEqual(1 + Math.ceil(count / 40));
    },
  );

  it('brings each log once, in order, and misses none, wherever and however many are recorded meanwhile', async () => {
    await fc.assert(
      fc.asyncProperty(
        size,
        pageSize,
        fc.array(inserted, { maxLength: 12 }),
        async (count, limit, changes) => {
          const list = new FakeList(count);
          const before = list.logs.map(({ id }) => id);
          const ids = await idsOf(everyLog(list.reader(changes), limit));
          expect(new Set(ids).size).toBe(ids.length);
          expect(ids.filter((id) => before.includes(id))).toEqual(before);
          const order = list.logs.map(({ id }) => id);
          expect(ids).toEqual(order.filter((id) => ids.includes(id)));
        },
      ),
    );
  });

  it('misses none of those that stay and repeats none where logs are deleted too, or says that it cannot go on', async () => {
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
            for await (const { id } of everyLog(list.reader(changes), limit)) ids.push(id);
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
    );
    expect(listed).toBeGreaterThan(gaveUp);
  });

  it('finds the last log again at the front when many before it are deleted', async () => {
    const list = new FakeList(300);
    const before = list.logs.map(({ id }) => id);
    expect(await idsOf(everyLog(list.reader([{ remove: 49, at: 0 }]), 50))).toEqual(before);
  });

  it('says so when the last log is deleted', async () => {
    const list = new FakeList(300);
    await expect(idsOf(everyLog(list.reader([{ remove: 50, at: 0 }]), 50))).rejects.toMatchObject({
      name: 'TimeLogError',
      code: 'LIST_CHANGED',
      message: 'the log up to which was listed has been deleted: list again',
    });
  });

  it('asks for no more pages than are needed when the reader stops', async () => {
    const list = new FakeList(300);
    for await (const { id } of everyLog(list.reader(), 50)) if (id === '60') break;
    expect(list.requests).toHaveLength(2);
  });
});

describe('pageFrom', () => {
  it('finds a page that holds a place and at least one more, whatever the place', () => {
    fc.assert(
      fc.property(
        fc.nat({ max: Number.MAX_SAFE_INTEGER - 1_000 }),
        fc.integer({ min: 50, max: 1_000 }),
        (place, most) => {
          const { page, limit } = pageFrom(place, most);
          const begin = (page - 1) * limit;
          expect(limit).toBeLessThanOrEqual(most);
          expect(begin).toBeLessThanOrEqual(place);
          expect(begin + limit).toBeGreaterThan(place + 1);
        },
      ),
    );
  });

  it('wastes little: a page of 1000 reaches 900 logs further, in lists of a million', () => {
    for (let place = 999; place < 1_000_000; place += 997) {
      const { page, limit } = pageFrom(place, 1_000);
      expect(page * limit - place).toBeGreaterThan(900);
    }
  });
});
