import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { ClientProxyFactory, Transport } from '@nestjs/microservices';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { TimeLogMessageClient } from '../../../libs/time-log-client/src/messages.js';
import { type MessageHost, startMessageHost, waitForLine } from '../../messages/host.js';
import { overHttp, overTransport } from '../../messages/test-clients.js';
import { eventually, WAIT_LIMIT } from '../../support/eventually.js';
import { LOG } from '../../support/requests.js';
import { describeWith } from '../describe-with.js';
import { type Broker, startNats } from './brokers.js';
import { closingAfterEach } from './opened.js';

/** Hundreds of times what an answer takes. To decode 20,000 header lines takes 27 s. */
const MAX_LATENCY_MS = 5_000;

describeWith('nats-server')('messages over NATS', () => {
  let broker: Broker;
  let host: MessageHost;
  let sender: NatsConnection;
  beforeAll(async () => {
    broker = await startNats();
  });
  afterAll(() => broker.stop());
  const opened = closingAfterEach();
  beforeEach(async () => {
    host = opened(await startMessageHost(broker.url));
    await waitForLine(host, `messages: connected to ${broker.url}`);
    sender = opened(await connect({ servers: broker.url.slice(7) }));
  });

  it('have no answer that is too large for the broker', async () => {
    const options = { servers: [broker.url.slice(7)] };
    const client = opened(ClientProxyFactory.create({ transport: Transport.NATS, options }));
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

  it('are answered to inboxes only', async () => {
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
    sender.publish('time-log.record.v1', packet);
    await eventually(async () =>
      expect(await overHttp(host.port).list({ accessToken: 'reader', query: { projectId } })).toMatchObject({
        answer: { meta: { total: 2 } },
      }),
    );
  });

  it('with 120,000 header lines are refused, and others are answered meanwhile', async () => {
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
});
