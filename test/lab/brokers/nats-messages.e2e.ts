import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ClientProxyFactory, Transport } from '@nestjs/microservices';
import { connect } from '@nats-io/transport-node';
import { TimeLogMessageClient } from '../../../libs/time-log-client/src/messages.js';
import { eventually, WAIT_LIMIT } from '../../support/eventually.js';
import { LOG } from '../../support/requests.js';
import { type Nats, startNats } from './brokers.js';
import { unusedPort } from '../../support/unused-port.js';
import { describeWith } from '../describe-with.js';
import { overHttp, overTransport } from '../../messages/test-clients.js';
import { describeFaults } from './faults.contract.js';
import { closingAfterEach } from './opened.js';
import { startMessageHost, waitForLine } from '../../messages/host.js';
import { describeMessages } from '../../messages/messages.contract.js';

/** Hundreds of times what an answer takes. To decode 20,000 header lines takes 27 s. */
const MAX_LATENCY_MS = 5_000;

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
    return {
      testClient: overTransport(proxy),
      proxy,
      close: async () => {
        await proxy.close();
        await host.close();
      },
    };
  });

  const opened = closingAfterEach();
  it('refuses an answer that is too large for the broker', async () => {
    const host = opened(await startMessageHost(broker.url));
    await waitForLine(host, `messages: connected to ${broker.url}`);
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

  it('answers to inboxes only', async () => {
    const host = opened(await startMessageHost(broker.url));
    await waitForLine(host, `messages: connected to ${broker.url}`);
    const sender = opened(await connect({ servers: broker.url.slice(7) }));
    const published: string[] = [];
    sender.subscribe('time-log.created', { callback: (_error, { subject }) => void published.push(subject) });
    const projectId = randomUUID();
    const record = { accessToken: 'worker', timeLog: { ...LOG, projectId } };
    const packet = JSON.stringify({ id: '1', data: record });
    sender.publish('time-log.record.v1', packet, { reply: 'time-log.created' });
    await waitForLine(host, 'error: messages: a message was refused: its reply address must be _INBOX.*');
    const { response } = (await sender.request('time-log.record.v1', packet)).json<{ response: object }>();
    expect(response).toMatchObject({ success: true });
    expect(published).toEqual([]);
    const total = async () =>
      expect(await overHttp(host.port).list({ accessToken: 'reader', query: { projectId } })).toMatchObject({
        answer: { meta: { total: 2 } },
      });
    sender.publish('time-log.record.v1', packet);
    await eventually(total);
  });

  it('refuses a message with 120,000 header lines, and goes on with others meanwhile', async () => {
    const host = opened(await startMessageHost(broker.url));
    await waitForLine(host, `messages: connected to ${broker.url}`);
    const sender = opened(await connect({ servers: broker.url.slice(7) }));
    const lines = Array.from({ length: 120_000 }, (_, line) => `${line}:\r\n`).join('');
    // No client library sends different lines without values.
    const encode = () => Buffer.from(`NATS/1.0\r\n${lines}\r\n`);
    const state = { isAnswered: false };
    const answer = sender
      .request('time-log.record.v1', '{"id":"1","data":{}}', {
        timeout: WAIT_LIMIT,
        headers: { encode } as never,
      })
      .finally(() => (state.isAnswered = true));
    const times: number[] = [];
    do {
      const startedAt = performance.now();
      expect(await overHttp(host.port).list({ accessToken: 'reader' })).toHaveProperty('answer');
      times.push(performance.now() - startedAt);
    } while (!state.isAnswered);
    expect((await answer).json()).toMatchObject({ err: { error: 'PAYLOAD_TOO_LARGE' } });
    expect(Math.max(...times)).toBeLessThan(MAX_LATENCY_MS);
  });

  describeFaults('NATS', () => ({
    url: broker.url,
    newClient: () => clientOf(broker.url),
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
