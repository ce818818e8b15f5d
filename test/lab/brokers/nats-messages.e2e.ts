import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ClientProxyFactory, NatsRecordBuilder, Transport } from '@nestjs/microservices';
import { connect, headers } from '@nats-io/transport-node';
import { TimeLogMessageClient } from '../../../libs/time-log-client/src/messages.js';
import { eventually } from '../../../libs/host-kit/src/contract/eventually.js';
import { LOG } from '../../support/requests.js';
import { type Nats, startNats } from './brokers.js';
import { unusedPort } from '../../support/unused-port.js';
import { describeWith } from '../describe-with.js';
import { outcomeOf, overHttp, overTransport } from '../../messages/test-clients.js';
import { describeFaults } from './faults.contract.js';
import { closingAfterEach } from './opened.js';
import { startMessageHost, waitForLine } from '../../messages/host.js';
import { describeMessages } from '../../messages/messages.contract.js';
import { expectMostRefused, holdLists, LIST, LISTS } from './large-lists.js';

/** A time that no test takes. */
const TIMEOUT_MS = 600_000;

const clientOf = (url: string) =>
  ClientProxyFactory.create({ transport: Transport.NATS, options: { servers: [url.slice(7)] } });

describeWith('nats-server')('with NATS', () => {
  let broker: Nats;
  beforeAll(async () => {
    broker = await startNats();
  });
  afterAll(() => broker.stop());

  describeMessages('NATS', async () => {
    const host = await startMessageHost(broker.url);
    await waitForLine(host, `messages: connected to ${broker.url}`);
    const proxy = clientOf(broker.url);
    const raw = await connect({ servers: broker.url.slice(7) });
    const ask = async (pattern: string, message: Buffer) =>
      (await raw.request(pattern, message, { timeout: TIMEOUT_MS })).string();
    return {
      testClient: overTransport(proxy),
      proxy,
      ask: async (message) => outcomeOf(await ask('time-log.record.v1', message)),
      askTotals: (message) => ask('time-log.totals.v1', message),
      close: async () => {
        await raw.close();
        await proxy.close();
        await host.close();
      },
    };
  });

  const opened = closingAfterEach();
  const start = async (limits = {}) => {
    const host = opened(await startMessageHost(broker.url, undefined, limits));
    await waitForLine(host, `messages: connected to ${broker.url}`);
    return opened(await connect({ servers: broker.url.slice(7) }));
  };

  it('refuses an answer that is too large for the broker', async () => {
    await start();
    const client = opened(clientOf(broker.url));
    const testClient = overTransport(client);
    const timeLog = { ...LOG, description: 'x'.repeat(5_000) };
    for (let batch = 0; batch < 3; batch++) {
      await Promise.all(
        Array.from({ length: 80 }, () => testClient.record({ accessToken: 'worker', timeLog })),
      );
    }
    expect(await testClient.list({ accessToken: 'worker', query: { limit: 1_000 } })).toMatchObject({
      error: { success: false, error: 'PAYLOAD_TOO_LARGE', message: expect.stringMatching(/fewer/) },
    });
    const ids = new Set<string>();
    for await (const { id } of new TimeLogMessageClient({ proxy: client, token: 'worker' }).list())
      ids.add(id);
    expect(ids.size).toBe(240);
  });

  it('makes no more answers than may wait for a broker that takes none', async () => {
    const lists = opened(holdLists(), (held) => held.restore());
    const raw = await start({ deadline: TIMEOUT_MS });
    // A broker that is frozen lets nothing end.
    opened(broker, (frozen) => frozen.thaw());
    const ask = async () => (await raw.request('time-log.list.v1', LIST, { timeout: TIMEOUT_MS })).string();
    const answers = Promise.all(Array.from({ length: LISTS }, ask));
    await eventually(() => expect(lists.asked()).toBe(LISTS));
    broker.freeze();
    lists.gate.open();
    await eventually(() => expect(lists.answered()).toBe(LISTS));
    broker.thaw();
    expectMostRefused(await answers);
    lists.restore();
    expect(outcomeOf((await raw.request('time-log.list.v1', LIST)).string())).toHaveProperty('answer');
  });

  describeFaults('NATS', () => ({
    url: broker.url,
    newClient: () => clientOf(broker.url),
    withRequestId: (data, id) => {
      const named = headers();
      named.set('X-Request-Id', id);
      return new NatsRecordBuilder(data).setHeaders(named).build();
    },
  }));
});

describeWith('nats-server')('a NATS that is away', () => {
  const opened = closingAfterEach();
  const startHost = async (url: string) => opened(await startMessageHost(url));
  const startBroker = async (...args: Parameters<typeof startNats>) =>
    opened(await startNats(...args), (broker) => broker.stop());

  it('is waited for at the start and later, with one line when it goes and one when it returns', async () => {
    const port = await unusedPort();
    const host = await startHost(`nats://127.0.0.1:${port}`);
    const lines = [
      `error: messages: nats://127.0.0.1:${port} is out of reach (connection refused); HTTP is not affected`,
      `messages: connected to nats://127.0.0.1:${port}`,
    ];
    await waitForLine(host, lines[0]!);
    expect(await overHttp(host.port).list({ accessToken: 'reader' })).toMatchObject({ answer: {} });
    const first = await startBroker(port);
    await waitForLine(host, lines[1]!);
    await first.stop();
    await waitForLine(host, lines[0]!, 2);
    const second = await startBroker(port);
    await waitForLine(host, lines[1]!, 2);
    const client = opened(clientOf(second.url));
    expect(await overTransport(client).record({ accessToken: 'worker', timeLog: LOG })).toMatchObject({
      answer: { success: true },
    });
    expect(host.lines).toEqual([...lines, ...lines]);
  });

  it('is an error with its own words where it lets nobody in, and without the password', async () => {
    const directory = opened(await mkdtemp(join(tmpdir(), 'nats-')), (path) => rm(path, { recursive: true }));
    const broker = await startBroker(
      undefined,
      directory,
      'authorization { user: "ada", password: "sesame" }',
    );
    const host = await startHost(broker.url.replace('//', '//ada:wrong@'));
    await waitForLine(host, /./);
    expect(host.lines).toEqual([
      expect.stringMatching(
        `^error: messages: ${broker.url} is out of reach \\(.*Authorization Violation.*\\); HTTP is not affected$`,
      ),
    ]);
  });
});
