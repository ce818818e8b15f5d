import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { loadConfig } from '../support/compiled.js';
import { LossyProxy } from '../support/lossy-proxy.js';
import { send, TIME_LOGS } from '../support/requests.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

describe('a database that falls silent', () => {
  let app: TestApp;
  let socket: string;
  let proxy: LossyProxy;

  const statusOf = async (path: string) => (await send(app, path)).status;
  const listTen = () => Promise.all(Array.from({ length: 10 }, () => statusOf(TIME_LOGS)));

  beforeAll(async () => {
    const [, host] = /@([^/]+)\//.exec(process.env.TEST_DATABASE_URL ?? '')!;
    socket = `${decodeURIComponent(host!)}/.s.PGSQL.5432`;
    proxy = new LossyProxy(socket);
    await proxy.listen();
    app = await startTestApp({ limits: loadConfig({}, false).limits }, (url) => proxy.url(url));
  });
  afterAll(async () => {
    await app.close();
    proxy.close();
  });

  it('costs the requests of that moment a 503, and no later request anything', async () => {
    expect(await listTen()).toEqual(Array(10).fill(200));
    // The connections that exist fall silent for ever, as a lost route does; new ones speak.
    proxy.break();
    proxy.aim(socket);
    const statuses = await listTen();
    expect(statuses).toContain(503);
    // One that finds no connection free makes a new one.
    expect(statuses.filter((status) => ![200, 503].includes(status))).toEqual([]);
    expect(await listTen()).toEqual(Array(10).fill(200));
    expect(await statusOf('/health')).toBe(200);
  });
});
