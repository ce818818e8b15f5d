import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { create, dataOf } from '../support/requests.js';
import { useTestApp } from '../support/test-app.js';

const DAY = 86_400_000;

describe('a clock that jumped ahead and was put right', () => {
  const app = useTestApp();

  afterEach(() => {
    jest.restoreAllMocks();
  });

  const createdAt = async () =>
    Date.parse((dataOf(await create(app)) as { readonly createdAt: string }).createdAt);

  it('gives no later log a false createdAt', async () => {
    const before = Date.now();
    const ahead = before + 1_500 * DAY;
    jest.spyOn(serviceGlobal.Date, 'now').mockReturnValue(ahead);
    expect(await createdAt()).toBe(ahead);
    jest.restoreAllMocks();
    const created = await createdAt();
    expect(created).toBeGreaterThanOrEqual(before);
    expect(created).toBeLessThanOrEqual(Date.now());
  });
});
