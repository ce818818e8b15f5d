import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../src/time-log/contract/eventually.js';
import { queryOnce } from '../support/postgres-cluster.js';
import { unusedPort } from '../support/unused-port.js';
import { create, list } from '../support/requests.js';
import { startService } from '../support/service-process.js';
import { createMigratedDatabase, type TestDatabase } from '../support/test-database.js';

const token = 'a-declared-token-of-32-characters';

describe('the service with EVENTS_URL', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createMigratedDatabase();
  });
  afterEach(() => database.drop());

  it('serves while the broker is away, says so in one line, and gives its lease up when it is ended', async () => {
    const address = `127.0.0.1:${await unusedPort()}`;
    const service = await startService({
      DATABASE_URL: database.url,
      ACCESS_TOKEN: token,
      EVENTS_URL: `nats://someone:secret@${address}`,
    });
    const target = { port: service.port, token };
    expect((await create(target)).status).toBe(201);
    const waits = () =>
      service
        .output()
        .split('\n')
        .filter((line) => line.includes('events wait'));
    await eventually(() => expect(waits()).toHaveLength(1));
    expect(JSON.parse(waits()[0]!)).toMatchObject({
      level: 'error',
      context: 'EventRelay',
      msg: expect.stringMatching(`^events wait for nats://${address}: NATS is out of reach or refuses `),
    });
    expect((await list(target)).body).toMatchObject({ meta: { total: 1 } });
    const lease = () =>
      queryOnce<{ sink: string; isFree: boolean }>(
        database.url,
        'select sink, leased_until <= clock_timestamp() as "isFree" from time_log_relays',
      );
    expect(await lease()).toEqual([{ sink: `nats://${address}`, isFree: false }]);
    expect(await service.end()).toBe(0);
    expect(await lease()).toEqual([{ sink: `nats://${address}`, isFree: true }]);
    expect(waits()).toHaveLength(1);
    expect(service.output()).not.toContain('secret');
  });
});
