import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { expectedItem } from '../support/expected-logs.js';
import { rawRequest } from '../support/raw-http.js';
import {
  type Answer,
  create,
  dataOf,
  list,
  LOG,
  outcome,
  refusal,
  sendBytes,
  TIME_LOGS,
} from '../support/requests.js';
import { useTestApp } from '../support/test-app.js';

const A = 'aaaaaaaa-0000-4000-8000-000000000001';
const B = 'bbbbbbbb-0000-4000-8000-000000000002';

/** The set that is listed, in the order of its making; a log's description is its name. */
const SET: readonly [name: string, projectId: string, date: string][] = [
  ['a1', A, '2026-01-01'],
  ['b1', B, '2026-02-01'],
  ['a2', A, '2026-01-31'],
  ['b2', B, '2025-12-31'],
  ['a3', A, '2026-01-31'],
  ['a4', A, '0001-01-01'],
  ['b3', B, '9999-12-31'],
  ['b4', B, '2026-01-31'],
  ['a5', A, '2024-02-29'],
];
/** All names in the order of a list. */
const ALL = ['b3', 'b1', 'b4', 'a3', 'a2', 'a1', 'b2', 'a5', 'a4'];

interface Item {
  readonly id: string;
  readonly description: string;
}
interface Created {
  readonly id: string;
  readonly createdAt: string;
}
interface List {
  readonly data: readonly Item[];
  readonly meta: object;
}

const app = useTestApp();
/** Each log of the set as it is listed, by its name. */
const items = new Map<string, object>();

beforeAll(async () => {
  for (const [description, projectId, date] of SET) {
    const sent = { ...LOG, projectId, date, description };
    items.set(description, expectedItem(sent, dataOf(await create(app, sent)) as Created));
  }
});

const isInvalid = (message: string) => [400, refusal('VALIDATION_ERROR', message)];

/** The whole answer of a list that holds these logs of the set. */
function isList(names: readonly string[], meta: { total: number; page?: number; limit?: number }) {
  const data = names.map((name) => items.get(name));
  return [200, { success: true, data, meta: { page: 1, limit: 50, ...meta } }];
}

const namesIn = ({ body }: Answer) => (body as List).data.map(({ description }) => description);

/** The targets of a Link header by relation, each as path and parameters. */
function linksIn({ headers }: Answer): Record<string, object> {
  const links = (headers.get('link') ?? '').split(', ').map((link) => {
    const [, target, relation] = /^<([^>]*)>; rel="(\w+)"$/.exec(link) ?? [];
    const { pathname, searchParams } = new URL(target!, app.url);
    return [relation!, { path: pathname, ...Object.fromEntries(searchParams) }] as const;
  });
  return Object.fromEntries(links);
}

describe('GET /api/v1/time-logs', () => {
  it('lists newest work first, then newest created, each log without its date', async () => {
    const answer = await list(app);
    expect(outcome(answer)).toEqual(isList(ALL, { total: 9 }));
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  describe('filters', () => {
    it.each([
      [`projectId=${A}`, ['a3', 'a2', 'a1', 'a5', 'a4']],
      [`projectId=${A.toUpperCase()}`, ['a3', 'a2', 'a1', 'a5', 'a4']],
      ['projectId=00000000-0000-0000-0000-000000000000', []],
      ['from=2026-01-31', ['b3', 'b1', 'b4', 'a3', 'a2']],
      ['to=2026-01-01', ['a1', 'b2', 'a5', 'a4']],
      ['from=2026-01-01&to=2026-01-31', ['b4', 'a3', 'a2', 'a1']],
      ['from=2026-01-31&to=2026-01-31', ['b4', 'a3', 'a2']],
      ['from=2026-01-02&to=2026-01-30', []],
      [`from=2026-01-01&projectId=${B}&to=2026-02-01`, ['b1', 'b4']],
      [`to=2026-01-30&projectId=${A}`, ['a1', 'a5', 'a4']],
      ['from=9999-12-31', ['b3']],
      ['to=0001-01-01', ['a4']],
      ['from=2024-02-29&to=2024-02-29', ['a5']],
      ['from=2026-01-01T00:00Z&to=2026-02-01T00:00Z', ['b1', 'b4', 'a3', 'a2', 'a1']],
      ['from=2026-02-01T00:00:00%2B14:00&to=2026-02-01T23:59:59-12:00', ['b1']],
    ])('narrows by %s', async (query, names) => {
      expect(outcome(await list(app, query))).toEqual(isList(names, { total: names.length }));
    });

    it.each([
      '2026-01-31',
      '2026-01-31T00:00',
      '2026-01-31T23:59:59',
      '2026-01-31T23:59:60Z',
      '2026-01-31T09:30:00.1',
      '2026-01-31T09:30:00.123456789Z',
      '2026-01-31t09:30:00z',
      '2026-01-31%2009:30Z',
      '2026-01-31+09:30:00',
      '2026-01-31T23:59:59-12:00',
      '2026-01-31T00:00:00%2B14:00',
      '2026-01-31T00:00:00+05:45',
      '2026-01-31T00:00+05:45',
      '2026-01-31T00:00:00.5%2005:45',
    ])('takes %s as the day that it names', async (end) => {
      const answer = await list(app, `from=${end}&to=${end}`);
      expect(outcome(answer)).toEqual(isList(['b4', 'a3', 'a2'], { total: 3 }));
      const first = { path: TIME_LOGS, from: '2026-01-31', to: '2026-01-31', page: '1', limit: '50' };
      expect(linksIn(answer)).toEqual({ first, last: first });
    });

    it.each([
      '',
      '2026-02-30',
      '2023-02-29',
      '0000-01-01',
      '10000-01-01',
      '2026-1-1',
      '20260131',
      '2026-01',
      '2026-W05-6',
      '2026-031',
      'today',
      '1769817600000',
      '2026-01-31T',
      '2026-01-31T09',
      '2026-01-31T0930',
      '2026-01-31T24:00',
      '2026-01-31T09:60',
      '2026-01-31T09:30:61',
      '2026-01-31T09:30:00.',
      '2026-01-31T09:30:00,5',
      '2026-01-31T09:30Z%20',
      '%202026-01-31',
      '2026-01-31T09:30%2B0545',
      '2026-01-31T09:30%2B05',
      '2026-01-31T09:30%2B24:00',
      '2026-01-31T09:30%2B05:60',
      '2026-01-31T09:30Z%2B05:45',
      '2026-01-31%2009:30%20UTC',
      '2026-01-31%00',
      '2026-01-31%0A',
      "2026-01-31'%20or%201=1--",
    ])('refuses "%s" as an end', async (end) => {
      const message = 'must be an existing day (YYYY-MM-DD) or an ISO 8601 timestamp';
      expect(outcome(await list(app, `from=${end}`))).toEqual(isInvalid(`from ${message}`));
      expect(outcome(await list(app, `to=${end}`))).toEqual(isInvalid(`to ${message}`));
    });

    it.each(['from=2026-02-01&to=2026-01-31', 'to=2026-01-31T23:00-10:00&from=2026-02-01T00:00%2B10:00'])(
      'refuses a period that ends before it begins (%s)',
      async (query) => {
        expect(outcome(await list(app, query))).toEqual(isInvalid('from must not be after to'));
      },
    );

    it.each(['', '5', 'x', `${A}%20`, A.replaceAll('-', ''), `{${A}}`])(
      'refuses "%s" as a project',
      async (projectId) => {
        const answer = await list(app, `projectId=${projectId}`);
        expect(outcome(answer)).toEqual(isInvalid('projectId must be a UUID'));
      },
    );
  });

  describe('paging', () => {
    const most = Number.MAX_SAFE_INTEGER;

    it.each<[string, string[], { page?: number; limit?: number }]>([
      ['page=1', ALL, { page: 1 }],
      ['limit=1', ['b3'], { limit: 1 }],
      ['limit=1000', ALL, { limit: 1000 }],
      ['limit=4', ALL.slice(0, 4), { limit: 4 }],
      ['page=2&limit=4', ALL.slice(4, 8), { page: 2, limit: 4 }],
      ['page=3&limit=4', ['a4'], { page: 3, limit: 4 }],
      ['page=4&limit=4', [], { page: 4, limit: 4 }],
      ['page=2', [], { page: 2 }],
      [`page=${most}&limit=1000`, [], { page: most, limit: 1000 }],
      ['page=007&limit=01', ['b2'], { page: 7, limit: 1 }],
    ])('answers %s', async (query, names, meta) => {
      expect(outcome(await list(app, query))).toEqual(isList(names, { total: 9, ...meta }));
    });

    it('counts in the total all logs that match the filter, not those of the page', async () => {
      const answer = await list(app, `projectId=${A}&page=2&limit=2`);
      expect(outcome(answer)).toEqual(isList(['a1', 'a5'], { total: 5, page: 2, limit: 2 }));
      const past = await list(app, `projectId=${A}&page=9&limit=2`);
      expect(outcome(past)).toEqual(isList([], { total: 5, page: 9, limit: 2 }));
    });

    const faults = {
      page: 'page must be a whole number from 1 to 2^53-1',
      limit: 'limit must be a whole number from 1 to 1000',
    };
    const never = [
      '',
      '0',
      '-1',
      '%2B1',
      '1.0',
      '1e1',
      '0x1',
      '%201',
      '1%20',
      '%EF%BC%91',
      'NaN',
      'ten',
      '9'.repeat(400),
    ];

    it.each([
      ...[...never, '9007199254740992', '9007199254740993'].map((text) => ['page', text] as const),
      ...[...never, '1001', '10000'].map((text) => ['limit', text] as const),
    ])('refuses %s=%s', async (name, text) => {
      expect(outcome(await list(app, `${name}=${text}`))).toEqual(isInvalid(faults[name]));
    });
  });

  describe('parameters', () => {
    const [project, day] = [
      'projectId must be a UUID',
      'must be an existing day (YYYY-MM-DD) or an ISO 8601 timestamp',
    ];

    it.each([
      ['project_id=x', 'unknown parameter: project_id'],
      ['ProjectId=x', 'unknown parameter: ProjectId'],
      [`projectId[]=${A}`, 'unknown parameter: projectId[]'],
      ['page[gt]=1', 'unknown parameter: page[gt]'],
      ['page%5B%5D=1', 'unknown parameter: page[]'],
      ['sort=date', 'unknown parameter: sort'],
      ['x', 'unknown parameter: x'],
      ['__proto__=1&constructor=2', 'unknown parameter: __proto__; unknown parameter: constructor'],
      ['a=1&b=2&c=3&d=4', 'unknown parameter: a; unknown parameter: b; unknown parameter: c'],
      [`${'n'.repeat(41)}=1`, `unknown parameter: ${'n'.repeat(40)}`],
      ['page=1&page=1', 'page must not be repeated'],
      ['from=2026-01-01&from=2026-01-02&to=x', `from must not be repeated; to ${day}`],
      [
        'x=1&limit=0&page=0&to=x&from=x&projectId=x',
        `${project}; from ${day}; to ${day}; page must be a whole number from 1 to 2^53-1; ` +
          'limit must be a whole number from 1 to 1000; unknown parameter: x',
      ],
    ])('refuses %s', async (query, message) => {
      expect(outcome(await list(app, query))).toEqual(isInvalid(message));
    });

    it('names an unknown parameter in printable ASCII alone', async () => {
      const { status, body } = await list(app, 'a%0D%0ASet-Cookie:%20%C3%A9%ff%00=1');
      expect(status).toBe(400);
      expect((body as { message: string }).message).toMatch(/^unknown parameter: a[\x20-\x7e]+$/);
    });

    it('says nothing that was sent as a value', async () => {
      const query = ['projectId', 'from', 'to', 'page', 'limit', 'x'].map((name) => `${name}=marker7f3a`);
      const { status, text } = await list(app, query.join('&'));
      expect(status).toBe(400);
      expect(text).not.toContain('marker7f3a');
    });

    it('takes an empty query for none', async () => {
      const answers = [await list(app, '&'), await list(app, '&&page=1&')];
      for (const answer of answers) expect(outcome(answer)).toEqual(isList(ALL, { total: 9 }));
    });
  });

  describe('the Link header', () => {
    const to = (page: number, more: object = {}) => ({
      path: TIME_LOGS,
      page: String(page),
      limit: '2',
      ...more,
    });

    it.each([
      ['limit=2', { first: to(1), next: to(2), last: to(5) }],
      ['limit=2&page=3', { first: to(1), prev: to(2), next: to(4), last: to(5) }],
      ['limit=2&page=5', { first: to(1), prev: to(4), last: to(5) }],
      ['limit=2&page=6', { first: to(1), prev: to(5), last: to(5) }],
      ['limit=2&page=99', { first: to(1), prev: to(5), last: to(5) }],
    ])('leads from %s', async (query, links) => {
      expect(linksIn(await list(app, query))).toEqual(links);
    });

    it('leads to the first page where nothing matches', async () => {
      const days = { from: '2027-01-01', to: '2028-01-01' };
      const answer = await list(app, 'limit=2&from=2027-01-01&to=2028-01-01');
      expect(linksIn(answer)).toEqual({ first: to(1, days), last: to(1, days) });
    });

    it('keeps the filter, with the days that were applied', async () => {
      const filter = { projectId: A, from: '2024-01-01', to: '2026-01-31' };
      const answer = await list(
        app,
        `projectId=${A.toUpperCase()}&from=2024-01-01T05:00+05:00&to=2026-01-31%2023:59&limit=2`,
      );
      const links = { first: to(1, filter), next: to(2, filter), last: to(2, filter) };
      expect(linksIn(answer)).toEqual(links);
    });

    it('never has a fragment: a path with one is unknown', async () => {
      const authorization = `Authorization: Bearer ${app.token}`;
      const head = rawRequest(`GET ${TIME_LOGS}#x?page=3 HTTP/1.1`, 'Host: x', authorization);
      expect(outcome((await sendBytes(app, head))!)).toEqual([404, refusal('NOT_FOUND', 'no such path')]);
    });
  });

  describe('of other logs', () => {
    const other = useTestApp();

    it('leads through an unchanged set, and shows each log exactly once', async () => {
      const projectId = randomUUID();
      const names = Array.from({ length: 57 }, (_, index) => `log ${index}`);
      const dates = names.map((_, index) => `2026-03-${String(1 + ((index * 7) % 5)).padStart(2, '0')}`);
      for (const [index, description] of names.entries()) {
        await create(other, { ...LOG, projectId, description, date: dates[index] });
      }
      const sizes: number[] = [];
      const seen: string[] = [];
      let next: string | undefined = `${TIME_LOGS}?projectId=${projectId}&limit=10`;
      while (next !== undefined) {
        const answer: Answer = await list(other, next.split('?')[1]);
        sizes.push(namesIn(answer).length);
        seen.push(...namesIn(answer));
        next = /<([^>]*)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1];
      }
      const newestFirst = names
        .map((name, index) => ({ name, index, date: dates[index]! }))
        .sort((a, b) => (a.date === b.date ? b.index - a.index : a.date < b.date ? 1 : -1))
        .map(({ name }) => name);
      expect([sizes, seen]).toEqual([[10, 10, 10, 10, 10, 7], newestFirst]);
    });

    it('takes the logs and their total from one snapshot', async () => {
      const writers = new Set([1, 2, 3, 4]);
      const write = async (writer: number) => {
        for (let i = 0; i < 100; i++) await create(other);
        writers.delete(writer);
      };
      const writing = Promise.all([...writers].map(write));
      let lists = 0;
      for (; writers.size > 0; lists++) {
        const { data, meta } = (await list(other, 'limit=1000')).body as List;
        expect(meta).toEqual({ total: data.length, page: 1, limit: 1000 });
      }
      await writing;
      expect(lists).toBeGreaterThan(10);
    });
  });
});
