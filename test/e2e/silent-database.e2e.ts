import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { loadConfig } from '../support/compiled.js';
import { send, TIME_LOGS } from '../support/requests.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

/**
 * Stands between service and database, and can make the connections that exist fall silent for ever, as a lost route
 * does.
 */
class SilencingProxy {
  private readonly pairs: [Socket, Socket][] = [];
  private readonly server: Server;

  constructor(private readonly target: string) {
    this.server = createServer((client) => {
      const upstream = connect(this.target);
      for (const socket of [client, upstream]) socket.on('error', () => undefined);
      client.pipe(upstream).pipe(client);
      client.on('close', () => upstream.destroy());
      this.pairs.push([client, upstream]);
    });
  }

  async listen(): Promise<number> {
    await once(this.server.listen(0, '127.0.0.1'), 'listening');
    return (this.server.address() as AddressInfo).port;
  }

  silence(): void {
    for (const [client, upstream] of this.pairs.splice(0)) {
      client.unpipe().resume();
      upstream.unpipe().resume();
    }
  }

  close(): void {
    this.server.close();
    for (const sockets of this.pairs) for (const socket of sockets) socket.destroy();
  }
}

describe('a database that falls silent', () => {
  let app: TestApp;
  let proxy: SilencingProxy;

  const statusOf = async (path: string) => (await send(app, path)).status;
  const listTen = () => Promise.all(Array.from({ length: 10 }, () => statusOf(TIME_LOGS)));

  beforeAll(async () => {
    const { host } = /@(?<host>[^/]+)\//.exec(process.env.TEST_DATABASE_URL ?? '')!.groups!;
    proxy = new SilencingProxy(`${decodeURIComponent(host!)}/.s.PGSQL.5432`);
    const port = await proxy.listen();
    const { limits } = loadConfig({}, false);
    app = await startTestApp({ limits }, (url) => url.replace(/@[^/]+/, `@127.0.0.1:${port}`));
  });
  afterAll(async () => {
    await app.close();
    proxy.close();
  });

  it('costs the requests of that moment a 503, and no later request anything', async () => {
    expect(await listTen()).toEqual(Array(10).fill(200));
    proxy.silence();
    const statuses = await listTen();
    expect(statuses).toContain(503);
    // One that finds no connection free makes a new one, which speaks.
    expect(statuses.filter((status) => ![200, 503].includes(status))).toEqual([]);
    expect(await listTen()).toEqual(Array(10).fill(200));
    expect(await statusOf('/health')).toBe(200);
  });
});
