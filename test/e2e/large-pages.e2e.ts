import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ClientProxy, ClientProxyFactory, Transport } from '@nestjs/microservices';
import { connectMessages, LargeResponseLimiter, UnreadResponseLimiter } from '../support/compiled.js';
import { unusedPort } from '../support/unused-port.js';
import { overHttp, overTransport } from '../messages/doors.js';
import { messageOptions } from '../messages/host.js';
import { newGate } from '../support/gate.js';
import { create, LOG, TIME_LOGS } from '../support/requests.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

describe('while a large page is made, a page with few logs and a limit of 1000 is answered', () => {
  const gate = newGate();
  let app: TestApp;
  let client: ClientProxy;
  let large: Promise<unknown>;

  beforeAll(async () => {
    const port = await unusedPort();
    const messagesUrl = `tcp://127.0.0.1:${port}`;
    app = await startTestApp({ messagesUrl });
    await connectMessages(app.app, {
      ...messageOptions(messagesUrl),
      unread: app.app.get(UnreadResponseLimiter),
    });
    client = ClientProxyFactory.create({ transport: Transport.TCP, options: { host: '127.0.0.1', port } });
    expect((await create(app, LOG)).status).toBe(201);
    large = app.app
      .get(LargeResponseLimiter)
      .make(
        {},
        { isClosed: () => false, sent: () => gate.opened, close: () => undefined },
        { estimateBytes: async () => undefined, make: () => gate.opened },
      );
  });
  afterAll(async () => {
    gate.open();
    await large;
    client.close();
    await app.close();
  });

  it.each(['HTTP', 'TCP'])('over %s', async (name) => {
    const door = name === 'HTTP' ? overHttp(app.port) : overTransport(client);
    const page = await door.list({ accessToken: app.token, query: { limit: 1_000 } });
    expect(page).toMatchObject({ answer: { data: [{ projectId: LOG.projectId }], meta: { total: 1 } } });
  });

  it('as events', async () => {
    const answer = await fetch(`http://127.0.0.1:${app.port}${TIME_LOGS}/events?limit=1000`, {
      headers: { authorization: `Bearer ${app.token}` },
    });
    expect([answer.status, await answer.json()]).toMatchObject([200, [{ data: LOG }]]);
  });
});
