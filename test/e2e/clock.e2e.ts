import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { startTestApp, type TestApp } from '../support/test-app.js';

const DAY = 86_400_000;
const LOG = { projectId: '11111111-1111-1111-1111-111111111111', duration: 1, date: '2026-01-31' };

describe('a clock that jumped ahead and was put right', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp();
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });
  afterAll(() => app.close());

  const createdAt = async (): Promise<number> => {
    const response = await fetch(`${app.url}/api/v1/time-logs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${app.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(LOG),
    });
    const { data } = (await response.json()) as { data: { createdAt: string } };
    return Date.parse(data.createdAt);
  };

  it('gives no later log a false createdAt', async () => {
    const before = Date.now();
    const ahead = before + 1_500 * DAY;
    jest.spyOn(Date, 'now').mockReturnValue(ahead);
    expect(await createdAt()).toBe(ahead);
    jest.restoreAllMocks();
    const created = await createdAt();
    expect(created).toBeGreaterThanOrEqual(before);
    expect(created).toBeLessThanOrEqual(Date.now());
  });
});
