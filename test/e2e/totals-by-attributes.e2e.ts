import { writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { useFolder } from '../support/fixtures.js';
import { PROJECT, sendUnchecked, TIME_LOGS } from '../support/requests.js';
import { useTestApp } from '../support/test-app.js';

const SCHEMA = {
  type: 'object',
  properties: {
    userId: { type: ['string', 'null'] },
    level: { type: 'number' },
    count: { type: 'integer' },
    billable: { type: 'boolean' },
    tags: { type: 'array', items: { type: 'string' } },
    constructor: { type: 'string' },
    note: {},
  },
};
const OTHER = 'b0000000-0000-4000-8000-00000000000f';
const LONG = 'x'.repeat(256);
const WRONG =
  'by must be project, day, week, month or attributes.NAME, or one of project and attributes.NAME with a period, such as project,month';

interface Group {
  readonly attributes: Readonly<Record<string, string | number | boolean | null>>;
  readonly from?: string;
  readonly to?: string;
  readonly count: number;
  readonly duration: number;
}
interface Totals {
  readonly message?: string;
  readonly data: readonly Group[];
  readonly meta: { readonly count: number; readonly duration: number; readonly total: number };
}

const inFolder = useFolder('totals-');
beforeAll(() => writeFile(inFolder('schema.json'), JSON.stringify(SCHEMA)));
const app = useTestApp(() => ({ attributesSchema: inFolder('schema.json') }));

const send = async <Body = Totals>(query: string, token = app.token, path = '/totals') => {
  const { body } = await sendUnchecked({ port: app.port, token }, 'GET', `${TIME_LOGS}${path}?${query}`);
  return body as Body;
};
const groupsBy = async (by: string, rest = '') => {
  const { data } = await send(`by=${by}${rest}`);
  return data.map(({ attributes, from, count, duration }) => [
    ...Object.values(attributes),
    ...(from === undefined ? [] : [from]),
    count,
    duration,
  ]);
};

beforeAll(async () => {
  const logs: [date: string, duration: number, attributes: object | undefined, projectId?: string][] = [
    ['2026-01-01', 1, { userId: 'ada', level: 1, billable: true, tags: ['b', 'a', 'b'], count: 2 }],
    ['2026-01-31', 0.1, { userId: 'ada', level: 0.1, billable: false, tags: ['a', 7, LONG] }],
    ['2026-02-01', 0.2, { userId: 'ada', tags: [] }],
    ['2026-01-15', 5, { userId: 'bob', constructor: 'x' }, OTHER],
    ['2026-01-15', 5, { userId: 'B\u00e9', level: 10 }],
    ['2026-01-15', 5, { userId: '😀', level: 9, tags: 'a' }],
    ['2026-01-15', 2, { userId: '' }],
    ['2026-01-15', 3, { userId: LONG }],
    ['2026-01-15', 4, { userId: null, billable: 'true', level: '1' }],
    ['2026-01-15', 6, undefined],
  ];
  for (const [index, [date, duration, attributes, projectId = PROJECT]] of logs.entries())
    await app.dataSource.query(
      `insert into time_logs (id, project_id, duration, description, date, attributes)
       values (('019c1370-4e1b-7000-8000-00000000000' || $1::text)::uuid, $2, $3, '', $4, $5)`,
      [index, projectId, duration, date, attributes && JSON.stringify(attributes)],
    );
  // The same number in another form.
  await app.dataSource.query(
    `update time_logs set attributes = attributes || '{"level": 1.00}' where duration = 0.2`,
  );
});

describe('totals by an attribute', () => {
  it('have the largest duration first, then the value by code point, and null last', async () => {
    expect(await groupsBy('attributes.userId')).toEqual([
      ['B\u00e9', 1, 5],
      ['bob', 1, 5],
      ['😀', 1, 5],
      ['', 1, 2],
      ['ada', 3, 1.3],
      [null, 3, 13],
    ]);
  });

  it('have numbers by value, and only values of the declared type', async () => {
    expect(await groupsBy('attributes.level')).toEqual([
      [9, 1, 5],
      [10, 1, 5],
      [1, 2, 1.2],
      [0.1, 1, 0.1],
      [null, 5, 20],
    ]);
    expect(await groupsBy('attributes.count')).toEqual([
      [2, 1, 1],
      [null, 9, 30.3],
    ]);
    expect(await groupsBy('attributes.billable,month', '&to=2026-01-31')).toEqual([
      [false, '2026-01-01', 1, 0.1],
      [true, '2026-01-01', 1, 1],
      [null, '2026-01-01', 7, 30],
    ]);
  });

  it('have a group for each text of an array, while meta counts each log once', async () => {
    expect(await groupsBy('attributes.tags')).toEqual([
      ['a', 2, 1.1],
      ['b', 1, 1],
      [null, 8, 30.2],
    ]);
    expect((await send('by=attributes.tags')).meta).toMatchObject({ count: 10, duration: 31.3, total: 3 });
  });

  it('with a period are by value, then newest first, cut to the filter', async () => {
    const { data, meta } = await send('by=attributes.userId,month&from=2026-01-02&attributes.userId=ada');
    expect(data).toEqual([
      { attributes: { userId: 'ada' }, from: '2026-02-01', to: '2026-02-28', count: 1, duration: 0.2 },
      { attributes: { userId: 'ada' }, from: '2026-01-02', to: '2026-01-31', count: 1, duration: 0.1 },
    ]);
    expect(meta).toEqual({ count: 2, duration: 0.3, total: 2, page: 1, limit: 50 });
  });

  it.each(['userId', 'level', 'billable', 'tags', 'constructor'])(
    'have exactly the logs of the list with the filter %s',
    async (name) => {
      for (const { attributes, count } of (await send(`by=attributes.${name}`)).data) {
        const value = attributes[name] ?? null;
        if (value === null) continue;
        const query = `attributes.${name}=${encodeURIComponent(String(value))}`;
        expect([query, (await send(query, app.token, '')).meta.total]).toEqual([query, count]);
      }
    },
  );

  it('are of the own logs of a bound caller', async () => {
    const tokenOf = async (bounds: object) =>
      (await app.tokens.create({ name: 'bound', scopes: ['time-logs:read'], ...bounds })).token;
    const ada = await tokenOf({ attributes: { userId: 'ada' } });
    const bound = await tokenOf({ projects: [OTHER] });
    expect((await send('by=attributes.userId', ada)).data).toEqual([
      { attributes: { userId: 'ada' }, count: 3, duration: 1.3 },
    ]);
    expect((await send('by=attributes.userId&attributes.userId=bob', ada)).data).toEqual([]);
    expect((await send('by=attributes.userId', bound)).data).toEqual([
      { attributes: { userId: 'bob' }, count: 1, duration: 5 },
    ]);
  });

  it.each([
    ...['', 'Day', 'month,project', 'project,day,week', 'constructor', 'project,attributes.userId'],
    ...['note', 'missing', '__proto__', 'userId,year'].map((name) => `attributes.${name}`),
  ])('refuse by=%s', async (by) => {
    expect((await send(`by=${by}&limit=0`)).message).toBe(
      `${WRONG}; limit must be a whole number from 1 to 1000`,
    );
  });
});
