import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ClientProxyFactory, Transport } from '@nestjs/microservices';
import { type Channel, type ChannelModel, connect } from 'amqplib';
import { InFlightMessages } from '../../../src/messages/in-flight-messages.js';
import { TimeLogService } from '../../../src/time-log/application/time-log.service.js';
import { TimeLog } from '../../../src/time-log/index.js';
import { startMessageHost, waitForLine } from '../../messages/host.js';
import { type Outcome, outcomeOf, overHttp, overTransport } from '../../messages/test-clients.js';
import { eventually } from '../../support/eventually.js';
import { newGate } from '../../support/gate.js';
import { LossyProxy } from '../../support/lossy-proxy.js';
import { LOG } from '../../support/requests.js';
import { describeWith } from '../describe-with.js';
import { type Rabbit, startRabbit } from './brokers.js';
import { closingAfterEach } from './opened.js';

/** Class and method of basic.publish (AMQP 0-9-1, section 1.8.3.7), with which an answer begins. */
const PUBLISH = '\0<\0(';
const DIRECT = 'amq.rabbitmq.reply-to';
const SUCCESS = { answer: { success: true } };
/** The messages that one process has in progress; others wait. */
const IN_PROGRESS = 400;
const LINES = {
  connected: /^messages: connected to amqp:[/]{2}127[.]0[.]0[.]1:\d+$/,
  refused:
    /^error: messages: \S+ refuses the queue time-logs: delete it if it was declared with other arguments than durable, or allow the user of MESSAGES_URL to declare and read it$/,
  deleted:
    /^error: messages: \S+ has deleted the queue time-logs, or stopped delivering from it; the service declares it again$/,
};
const LIST = { pattern: 'time-log.list.v1', data: { accessToken: 'reader' } };

describeWith('rabbitmq-server')('messages over RabbitMQ', () => {
  let broker: Rabbit;
  beforeAll(async () => {
    broker = await startRabbit();
  });
  afterAll(() => broker.stop());

  const opened = closingAfterEach();
  const startHost = async (url: string, limits = {}) =>
    opened(await startMessageHost(url, undefined, limits));

  /** Opens a connection of somebody who sends bytes to the queue of the service. */
  async function openSender(url: string) {
    const connection: ChannelModel = opened(await connect(url));
    connection.on('error', () => undefined);
    const channel: Channel = await connection.createChannel();
    await channel.assertQueue('time-logs');
    const waiting = new Map<string, (answer: Outcome) => void>();
    const take = (answer: { content: Buffer; properties: { correlationId?: string } } | null) =>
      waiting.get(answer?.properties.correlationId ?? '')?.(outcomeOf(answer!.content.toString()));
    await channel.consume(DIRECT, take, { noAck: true });
    return {
      channel,
      ask: (message: object) =>
        new Promise<Outcome>((resolve) => {
          const correlationId = randomUUID();
          waiting.set(correlationId, resolve);
          const content = Buffer.from(JSON.stringify({ id: '1', ...message }));
          channel.sendToQueue('time-logs', content, { replyTo: DIRECT, correlationId });
        }),
      /** How many messages the broker has not given to anybody. */
      left: async () => (await channel.checkQueue('time-logs')).messageCount,
    };
  }

  describe.each(['classic', 'quorum'])('that wait in a %s queue', (type) => {
    let url: string;
    let sender: Awaited<ReturnType<typeof openSender>>;
    beforeAll(async () => {
      await broker.control('add_vhost', type, '--default-queue-type', type);
      await broker.control('set_permissions', '-p', type, 'guest', '.*', '.*', '.*');
      url = `${broker.url}/${type}`;
    });
    beforeEach(async () => {
      sender = await openSender(url);
    });
    const openProxy = async () => {
      const proxy = opened(new LossyProxy(Number(new URL(broker.url).port)));
      await proxy.listen();
      return proxy;
    };

    /** Starts a host whose records wait for a gate, and sends it 100 messages more than it begins. */
    async function hold(at = url) {
      const host = await startHost(at, { deadline: 600_000 });
      const service = host.app.get(TimeLogService);
      const recordNow = service.record.bind(service);
      const gate = newGate();
      // A host that ends waits for what is under way.
      opened(gate, () => gate.open());
      const spy = jest.spyOn(service, 'record').mockImplementation(async (...args) => {
        await gate.opened;
        return recordNow(...args);
      });
      const outcomes: Outcome[] = [];
      for (let number = 0; number < IN_PROGRESS + 100; number++) {
        const timeLog = { ...LOG, description: `log ${number}` };
        const message = { pattern: 'time-log.record.v1', data: { accessToken: 'worker', timeLog } };
        void sender.ask(message).then((outcome) => outcomes.push(outcome));
      }
      await eventually(() => expect(spy).toHaveBeenCalledTimes(IN_PROGRESS));
      const allRecorded = async () => {
        await eventually(() => expect(outcomes).toHaveLength(IN_PROGRESS + 100));
        for (const outcome of outcomes) expect(outcome).toMatchObject(SUCCESS);
      };
      return { gate, host, outcomes, spy, allRecorded };
    }

    it('go back when a host ends, but for those that it has begun, which it answers', async () => {
      const { gate, host, outcomes, allRecorded } = await hold();
      // The first step of a shutdown. The last one, which closes the connection, would bring them back in any case.
      const drained = host.app.get(InFlightMessages).drain();
      await eventually(async () => expect(await sender.left()).toBe(100));
      gate.open();
      await eventually(() => expect(outcomes).toHaveLength(IN_PROGRESS));
      await drained;
      await host.close();
      await startHost(url);
      await allRecorded();
    });

    it('go back where the connection of a host is lost, and are recorded once', async () => {
      const proxy = await openProxy();
      const { gate, spy, allRecorded } = await hold(`${proxy.url(broker.url)}/${type}`);
      proxy.close();
      await eventually(async () => expect(await sender.left()).toBe(100));
      gate.open();
      await proxy.listen();
      await allRecorded();
      expect(spy).toHaveBeenCalledTimes(IN_PROGRESS + 100);
    });

    it('are answered over the next connection where one is lost with the answer', async () => {
      const proxy = await openProxy();
      const { gate, spy, allRecorded } = await hold(`${proxy.url(broker.url)}/${type}`);
      const isLost = proxy.lose(PUBLISH, { lost: 'statement', by: 'close' });
      gate.open();
      await isLost;
      await allRecorded();
      expect(spy).toHaveBeenCalledTimes(IN_PROGRESS + 100);
    });
  });

  it('are refused where the answer is more than RabbitMQ 4 takes, and the next one is answered', async () => {
    const host = await startHost(broker.url);
    const sender = await openSender(broker.url);
    const log = TimeLog.of({ ...LOG, description: 'x'.repeat(5_000) }, randomUUID());
    const list = { items: Array<string>(4_000).fill(JSON.stringify(log)), total: 4_000 };
    jest.spyOn(host.app.get(TimeLogService), 'items').mockResolvedValueOnce(list);
    expect(await sender.ask(LIST)).toMatchObject({ error: { error: 'PAYLOAD_TOO_LARGE' } });
    expect(await sender.ask(LIST)).toMatchObject(SUCCESS);
  });

  it('come again after their queue was refused, or deleted, which is one line each', async () => {
    const { channel } = await openSender(broker.url);
    await channel.deleteQueue('time-logs');
    await channel.assertQueue('time-logs', { durable: false });
    const host = await startHost(broker.url);
    await waitForLine(host, LINES.refused);
    expect(await overHttp(host.port).list({ accessToken: 'reader' })).toMatchObject({ answer: {} });
    await channel.deleteQueue('time-logs');
    await waitForLine(host, LINES.connected);
    await channel.deleteQueue('time-logs');
    const lines = [LINES.refused, LINES.connected, LINES.deleted, LINES.connected];
    await eventually(() => expect(host.lines).toEqual(lines.map((line) => expect.stringMatching(line))));
    expect(await (await openSender(broker.url)).ask(LIST)).toMatchObject(SUCCESS);
  });

  it('are answered to queues that the broker has named, and to no others', async () => {
    const host = await startHost(broker.url);
    const { channel, left } = await openSender(broker.url);
    await channel.assertQueue('events');
    const { queue } = await channel.assertQueue('', { exclusive: true });
    const content = Buffer.from(JSON.stringify({ id: '1', ...LIST }));
    for (const replyTo of ['events', queue])
      channel.sendToQueue('time-logs', content, { replyTo, correlationId: replyTo });
    const answer = await eventually(
      async () => (await channel.get(queue, { noAck: true })) || Promise.reject(new Error('none')),
    );
    expect(answer.properties.correlationId).toBe(queue);
    expect(outcomeOf(answer.content.toString())).toMatchObject(SUCCESS);
    expect((await channel.checkQueue('events')).messageCount).toBe(0);
    expect(host.lines).toContain(
      'error: messages: a message was refused: its reply address must be amq.rabbitmq.reply-to.* or amq.gen-*',
    );
    await host.close();
    expect(await left()).toBe(0);
  });

  it.each([
    { noAck: true, acknowledges: false },
    { noAck: false, acknowledges: true },
  ])('are taken by a host with a transport of its own: %j', async ({ noAck, acknowledges }) => {
    const options = { urls: [broker.url], queue: 'time-logs', noAck };
    const host = opened(
      await startMessageHost(
        broker.url,
        async (app) => {
          await app.connectMicroservice({ transport: Transport.RMQ, options }).listen();
        },
        {},
        acknowledges,
      ),
    );
    const client = opened(
      ClientProxyFactory.create({ transport: Transport.RMQ, options: { ...options, noAck: true } }),
    );
    for (let sent = 0; sent < 2; sent++) {
      expect(await overTransport(client).list({ accessToken: 'bad' })).toMatchObject({
        error: { error: 'UNAUTHORIZED' },
      });
      expect(await overTransport(client).list({ accessToken: 'reader' })).toMatchObject(SUCCESS);
    }
    await host.close();
    // The broker takes back messages without an acknowledgement.
    expect(await (await openSender(broker.url)).left()).toBe(0);
  });
});
