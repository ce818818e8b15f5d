import { beforeAll, describe, expect, it } from '@jest/globals';
import { PROJECT, send, TIME_LOGS } from '../support/requests.js';
import { useTestApp } from '../support/test-app.js';

const CHECK = 'time_logs_duration_is_within_double';
const idOf = (number: number) => `019c1370-4e1b-7000-8000-00000000000${number}`;

describe('durations that SQL has stored before they had to be doubles', () => {
  const app = useTestApp();
  const durations = [Number.MAX_VALUE, 1.5, Number.MIN_VALUE];
  const get = async (path: string) => (await send(app, `${TIME_LOGS}${path}`)).body as { data: unknown };

  beforeAll(async () => {
    await app.dataSource.query(`alter table time_logs drop constraint ${CHECK}`);
    for (const [index, duration] of ['1e400', '1.5', '1e-400'].entries())
      await app.dataSource.query(`insert into time_logs values ($1, $2, $3, '', '2026-01-31')`, [
        idOf(index),
        PROJECT,
        duration,
      ]);
  });

  it('are listed as the nearest double', async () => {
    const { data } = await get('');
    expect((data as { duration: number }[]).map(({ duration }) => duration)).toEqual(durations.toReversed());
  });

  it.each([0, 1, 2])('are the nearest double alone too: %d', async (index) => {
    expect(await get(`/${idOf(index)}`)).toMatchObject({ data: { duration: durations[index] } });
  });

  it('are the nearest double in the feed', async () => {
    const events = (await get('/events')) as unknown as { data: { duration: number } }[];
    expect(events.map(({ data }) => data.duration)).toEqual(durations);
  });

  it('are summed as they are', async () => {
    const { text } = await send(app, `${TIME_LOGS}/totals`);
    expect(text).toContain(`"duration":1${'0'.repeat(399)}1.5${'0'.repeat(398)}1,`);
  });
});
