import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ClientProxyFactory, Transport } from '@nestjs/microservices';
import { connect } from 'amqplib';
import { eventually } from '../../support/eventually.js';
import { LOG } from '../../support/requests.js';
import { type Rabbit, startRabbit } from './brokers.js';
import { unusedPort } from '../../support/unused-port.js';
import { describeWith } from '../describe-with.js';
import { startSender } from './rabbitmq-sender.js';
import { outcomeOf, overHttp, overTransport } from '../../messages/test-clients.js';
import { describeFaults } from './faults.contract.js';
import { closingAfterEach } from './opened.js';
import { startMessageHost, waitForLine } from '../../messages/host.js';
import { describeMessages } from '../../messages/messages.contract.js';

const CONNECTED = /^messages: connected to amqp:[/]{2}127[.]0[.]0[.]1:\d+$/;
const AWAY =
  /^error: messages: amqp:[/]{2}127[.]0[.]0[.]1:\d+ is out of reach [(].*(ECONNREFUSED|CONNECTION.FORCED).*[)]; HTTP is not affected$/;
const REFUSED =
  /^error: messages: amqp:[/]{2}127[.]0[.]0[.]1:\d+ refuses the queue time-logs: delete it if it was declared with other arguments than durable, or allow the user of MESSAGES_URL to declare and read it$/;
const DELETED =
  /^error: messages: amqp:[/]{2}127[.]0[.]0[.]1:\d+ has deleted the queue time-logs, or stopped delivering from it; the service declares it again$/;

const LIST = Buffer.from(
  JSON.stringify({ id: '1', pattern: 'time-log.list.v1', data: { accessToken: 'reader' } }),
);

const clientOf = (url: string) =>
  ClientProxyFactory.create({ transport: Transport.RMQ, options: { urls: [url], queue: 'time-logs' } });

/** Whether somebody takes messages from the queue. */
async function hasConsumer(url: string): Promise<boolean> {
  const connection = await connect(url);
  const channel = await connection.createChannel();
  channel.on('error', () => undefined);
  const consumers = await channel.checkQueue('time-logs').then(
    ({ consumerCount }) => consumerCount,
    () => 0,
  );
  await connection.close();
  return consumers > 0;
}

const opened = closingAfterEach();
const startHost = async (url: string) => opened(await startMessageHost(url));
const openSender = async (url: string) => opened(await startSender(url));
const openClient = (url: string) => opened(clientOf(url));

describeWith('rabbitmq-server')('with RabbitMQ', () => {
  let broker: Rabbit;
  beforeAll(async () => {
    broker = await startRabbit();
  });
  afterAll(() => broker.stop());

  describeMessages('RabbitMQ', async () => {
    const host = await startMessageHost(broker.url);
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

  describeFaults('RabbitMQ', () => ({
    url: broker.url,
    newClient: () => clientOf(broker.url),
  }));

  it('logs a queue that others have made, and takes messages when it or its own was deleted', async () => {
    const connection = opened(await connect(broker.url));
    connection.on('error', () => undefined);
    const channel = await connection.createChannel();
    await channel.deleteQueue('time-logs');
    await channel.assertQueue('time-logs', { durable: false });
    const host = await startHost(broker.url);
    await waitForLine(host, REFUSED);
    expect(await overHttp(host.port).list({ accessToken: 'reader' })).toMatchObject({ answer: {} });
    await channel.deleteQueue('time-logs');
    await waitForLine(host, CONNECTED);
    await channel.deleteQueue('time-logs');
    await eventually(async () => expect(await hasConsumer(broker.url)).toBe(true));
    const client = openClient(broker.url);
    expect(await overTransport(client).list({ accessToken: 'reader' })).toMatchObject({ answer: {} });
    const lines = [REFUSED, CONNECTED, DELETED, CONNECTED];
    await eventually(() => expect(host.lines).toEqual(lines.map((line) => expect.stringMatching(line))));
  });

  it('is an error with its own words where it lets nobody in, and without the password', async () => {
    const host = await startHost(broker.url.replace('guest:guest', 'guest:wrong'));
    await waitForLine(host, /./);
    expect(host.lines).toEqual([
      expect.stringMatching(
        /^error: messages: amqp:[/]{2}127[.]0[.]0[.]1:\d+ is out of reach [(].*ACCESS.REFUSED.*[)]; HTTP is not affected$/,
      ),
    ]);
    expect(host.lines.join()).not.toContain('wrong');
  });

  it('answers to queues that the broker has named, and to no others', async () => {
    const host = await startHost(broker.url);
    const connection = opened(await connect(broker.url));
    const channel = await connection.createChannel();
    await channel.assertQueue('events');
    const { queue } = await channel.assertQueue('', { exclusive: true });
    for (const replyTo of ['events', queue])
      channel.sendToQueue('time-logs', LIST, { replyTo, correlationId: replyTo });
    const answer = await eventually(
      async () => (await channel.get(queue, { noAck: true })) || Promise.reject(new Error('none')),
    );
    expect(answer.properties.correlationId).toBe(queue);
    expect(outcomeOf(answer.content.toString())).toHaveProperty('answer');
    expect((await channel.checkQueue('events')).messageCount).toBe(0);
    expect(host.lines).toContain(
      'error: messages: a message was refused: its reply address must be amq.rabbitmq.reply-to.* or amq.gen-*',
    );
    await host.close();
    expect((await channel.checkQueue('time-logs')).messageCount).toBe(0);
  });

  it.each([
    { noAck: true, acknowledges: false },
    { noAck: false, acknowledges: true },
  ])('takes messages in a host with a transport of its own: %j', async ({ noAck, acknowledges }) => {
    const host = opened(
      await startMessageHost(
        broker.url,
        async (app) => {
          const options = { urls: [broker.url], queue: 'time-logs', noAck };
          await app.connectMicroservice({ transport: Transport.RMQ, options }).listen();
        },
        {},
        acknowledges,
      ),
    );
    const testClient = overTransport(openClient(broker.url));
    for (let sent = 0; sent < 2; sent++) {
      expect(await testClient.list({ accessToken: 'bad' })).toMatchObject({
        error: { error: 'UNAUTHORIZED' },
      });
      expect(await testClient.list({ accessToken: 'reader' })).toMatchObject({ answer: {} });
    }
    await host.close();
    // The broker takes back messages without an acknowledgement.
    expect(await (await openSender(broker.url)).left()).toBe(0);
  });

  it('goes on after messages without an address for an answer', async () => {
    await startHost(broker.url);
    const sender = await openSender(broker.url);
    for (const bytes of [Buffer.from('{'), LIST]) sender.tell(bytes);
    expect(outcomeOf(await sender.ask(LIST))).toHaveProperty('answer');
  });
});

describeWith('rabbitmq-server')('a RabbitMQ that is away', () => {
  it('is waited for at the start and later, with one line when it goes and one when it returns', async () => {
    const port = await unusedPort();
    const host = await startHost(`amqp://guest:guest@127.0.0.1:${port}`);
    await waitForLine(host, AWAY);
    expect(await overHttp(host.port).list({ accessToken: 'reader' })).toMatchObject({ answer: {} });
    const first = opened(await startRabbit(port), (rabbit) => rabbit.stop());
    await waitForLine(host, CONNECTED);
    await first.stop();
    await waitForLine(host, AWAY, 2);
    const second = opened(await startRabbit(port), (rabbit) => rabbit.stop());
    await waitForLine(host, CONNECTED, 2);
    const client = openClient(second.url);
    expect(await overTransport(client).record({ accessToken: 'worker', timeLog: LOG })).toMatchObject({
      answer: { success: true },
    });
    expect(host.lines).toEqual([AWAY, CONNECTED, AWAY, CONNECTED].map((line) => expect.stringMatching(line)));
  });
});
