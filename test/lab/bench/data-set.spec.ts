import { describe, expect, it } from '@jest/globals';
import { useTestDatabase } from '../../support/fixtures.js';
import { queryOnce } from '../../support/postgres-cluster.js';
import { logsQuery, projectId, SEEDED, sizeName, type Spread } from './data-set.js';

const SIZE = 5_000;

describe('the seeded logs', () => {
  const database = useTestDatabase();
  const logs = logsQuery('usual', SIZE);

  async function ask(spread: Spread, select: string): Promise<unknown> {
    const sql = `select ${select} from (${logsQuery(spread, SIZE)}) logs`;
    return (await queryOnce(database.url, sql, [1, SIZE]))[0];
  }

  it('have increasing identifiers of version 7 that hold the instant of creation', async () => {
    const rows = await queryOnce<{ id: string; created_at: Date }>(database.url, logs, [1, SIZE]);
    const ids = rows.map(({ id }) => id);
    expect(ids).toEqual(ids.toSorted());
    expect(ids.filter((id) => !/^.{14}7.{4}8/.test(id))).toEqual([]);
    const times = rows.map(({ created_at: createdAt }) => createdAt.getTime());
    expect(ids.map((id) => Number.parseInt(id.replace('-', '').slice(0, 12), 16))).toEqual(times);
    expect([times[0]! >= SEEDED.from, times.at(-1)! < SEEDED.until]).toEqual([true, true]);
  });

  it('are the same whenever they are made, and whichever part of them', async () => {
    const digest = `select md5(string_agg(logs::text, ',' order by id)) as md5 from`;
    const whole = `${digest} (${logs}) logs where id in (select id from (${logs}) again offset 4000)`;
    const part = await queryOnce(database.url, `${digest} (${logs}) logs`, [4001, SIZE]);
    expect(await queryOnce(database.url, whole, [1, SIZE])).toEqual(part);
  });

  it('keep within the bounds of their fields', async () => {
    const bounds = `min(length(description)) as shortest, max(length(description)) as longest,
      min(duration)::float > 0 and max(scale(duration)) = 2 as decimals,
      max(date - created_at::date) as newest, min(date - created_at::date) as oldest`;
    const expected = { shortest: 20, longest: 80, decimals: true, newest: 0, oldest: -3 };
    expect(await ask('usual', bounds)).toEqual(expected);
  });

  it('give a tenth to the largest of 1,000 projects', async () => {
    const found = await ask(
      'usual',
      `count(*) filter (where project_id = '${projectId(1)}')::float / count(*) as share,
       count(distinct project_id)::int as projects`,
    );
    const { share, projects } = found as { share: number; projects: number };
    expect(share).toBeCloseTo(0.1, 1);
    expect(projects).toBeGreaterThan(700);
    expect(projects).toBeLessThanOrEqual(1_000);
  });

  it('have a project each in the sparse spread', async () => {
    expect(await ask('sparse', 'count(distinct project_id)::int as projects')).toEqual({ projects: SIZE });
  });

  it('reach over the years 1 to 9999 in the spread over ages', async () => {
    expect(await ask('ages', `min(date)::text as first, max(date) > '9997-01-01' as last`)).toEqual({
      first: '0001-01-01',
      last: true,
    });
  });
});

it('names sizes as they are asked for', () => {
  expect([500, 10_000, 1_500_000, 10_000_000].map(sizeName)).toEqual(['500', '10k', '1500k', '10m']);
});
