import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ClientProxyFactory, RmqRecordBuilder, Transport } from '@nestjs/microservices';
import { connect } from 'amqplib';
import { lastValueFrom } from 'rxjs';
import { eventually } from '../../../src/time-log/contract/eventually.js';
import { LOG, refusal } from '../../support/requests.js';
import { type Rabbit, startRabbit } from './brokers.js';
import { unusedPort } from '../../support/unused-port.js';
import { describeWith } from './describe-with.js';
import { startSender } from './rabbitmq-sender.js';
import { describeBytes, describeDoor, describeJsonSuite } from '../../messages/door.contract.js';
import { outcomeOf, overHttp, overTransport } from '../../messages/doors.js';
import { describeFaults } from './faults.contract.js';
import { startMessageHost, told } from '../../messages/host.js';
import { expectMostRefused, holdLists, LIST, LISTS } from './large-lists.js';
import { describeMessages } from '../../messages/message.contract.js';

const CONNECTED = /^messages: connected to amqp:[/]{2}127[.]0[.]0[.]1:\d+$/;
const AWAY =
  /^error: messages: amqp:[/]{2}127[.]0[.]0[.]1:\d+ is out of reach [(].*(ECONNREFUSED|CONNECTION.FORCED).*[)]; HTTP goes on$/;
const REFUSED =
  /^error: messages: amqp:[/]{2}127[.]0[.]0[.]1:\d+ refuses the queue time-logs: delete it if it was made with other arguments [(]durable alone is right[)], or allow the user of MESSAGES_URL to make and read it$/;

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

describeWith('rabbitmq-server')('with RabbitMQ', () => {
  let broker: Rabbit;
  beforeAll(async () => {
    broker = await startRabbit();
  });
  afterAll(() => broker.stop());

  const open = async () => {
    const host = await startMessageHost(broker.url);
    const client = clientOf(broker.url);
    return {
      door: overTransport(client),
      proxy: client,
      close: async () => {
        await client.close();
        await host.close();
      },
    };
  };
  describeDoor('RabbitMQ', open);
  describeMessages('RabbitMQ', open);
  const openBytes = async () => {
    const opened = await open();
    const sender = await startSender(broker.url);
    return {
      ...opened,
      ask: async (message: Buffer) => outcomeOf(await sender.ask(message)),
      askTotals: (message: Buffer) => sender.ask(message),
      close: async () => {
        await sender.close();
        await opened.close();
      },
    };
  };
  describeBytes('RabbitMQ', openBytes);
  describeJsonSuite('RabbitMQ', openBytes);

  it('makes no more answers than may wait for a broker that takes none', async () => {
    const lists = holdLists();
    const host = await startMessageHost(broker.url, undefined, { deadline: 60_000 });
    const sender = await startSender(broker.url);
    const answers = Promise.all(Array.from({ length: LISTS }, () => sender.ask(LIST)));
    await eventually(() => expect(lists.asked()).toBe(LISTS));
    try {
      await broker.control('set_vm_memory_high_watermark', '0.000001');
      lists.gate.open();
      await eventually(() => expect(lists.answered()).toBe(LISTS));
    } finally {
      // Else no test after this one gets an answer.
      await broker.control('set_vm_memory_high_watermark', '0.4');
    }
    expectMostRefused(await answers);
    lists.restore();
    expect(outcomeOf(await sender.ask(LIST))).toHaveProperty('answer');
    await sender.close();
    await host.close();
  });

  describeFaults('RabbitMQ', () => ({
    url: broker.url,
    hasBroker: true,
    newClient: () => clientOf(broker.url),
    withRequestId: (data, id) =>
      new RmqRecordBuilder(data).setOptions({ headers: { 'x-request-id': id } }).build(),
  }));

  it('tells of a queue that others have made, and takes messages when it or its own was deleted', async () => {
    const connection = await connect(broker.url);
    connection.on('error', () => undefined);
    const channel = await connection.createChannel();
    await channel.deleteQueue('time-logs');
    await channel.assertQueue('time-logs', { durable: false });
    const host = await startMessageHost(broker.url);
    await told(host, REFUSED);
    expect(await overHttp(host.port).list({ accessToken: 'reader' })).toMatchObject({ answer: {} });
    await channel.deleteQueue('time-logs');
    await told(host, CONNECTED);
    await channel.deleteQueue('time-logs');
    while (!(await hasConsumer(broker.url))) await delay(100);
    const client = clientOf(broker.url);
    expect(await overTransport(client).list({ accessToken: 'reader' })).toMatchObject({ answer: {} });
    expect(host.lines).toEqual([REFUSED, CONNECTED].map((line) => expect.stringMatching(line)));
    await client.close();
    await connection.close();
    await host.close();
  });

  it('is an error with its own words where it lets nobody in, and without the password', async () => {
    const host = await startMessageHost(broker.url.replace('guest:guest', 'guest:wrong'));
    await told(host, /./);
    expect(host.lines).toEqual([
      expect.stringMatching(
        /^error: messages: amqp:[/]{2}127[.]0[.]0[.]1:\d+ is out of reach [(].*ACCESS.REFUSED.*[)]; HTTP goes on$/,
      ),
    ]);
    expect(host.lines.join()).not.toContain('wrong');
    await host.close();
  });

  it('answers an unknown pattern in the form of all errors', async () => {
    const opened = await open();
    const sent = lastValueFrom(opened.proxy.send('time-log.unknown.v1', {}));
    await expect(sent).rejects.toEqual(refusal('NOT_FOUND', 'no such pattern'));
    await opened.close();
  });

  it('answers bytes that are no JSON', async () => {
    const opened = await open();
    await opened.door.list({ accessToken: 'reader' });
    const sender = await startSender(broker.url);
    // Without an address there is no answer, and no harm.
    const message = JSON.stringify({ pattern: 'time-log.list.v1', id: '1', data: {} });
    for (const bytes of ['{', message]) sender.tell(Buffer.from(bytes));
    const answer = await sender.ask(Buffer.from('{'));
    expect(outcomeOf(answer)).toMatchObject({ error: { success: false, error: 'VALIDATION_ERROR' } });
    await sender.close();
    await opened.close();
  });
});

describeWith('rabbitmq-server')('a RabbitMQ that is away', () => {
  it('is waited for at the start and later, and told about in one line each way', async () => {
    const port = await unusedPort();
    const host = await startMessageHost(`amqp://guest:guest@127.0.0.1:${port}`);
    await told(host, AWAY);
    expect(await overHttp(host.port).list({ accessToken: 'reader' })).toMatchObject({ answer: {} });
    const first = await startRabbit(port);
    await told(host, CONNECTED);
    await first.stop();
    await told(host, AWAY, 2);
    const second = await startRabbit(port);
    await told(host, CONNECTED, 2);
    const client = clientOf(second.url);
    expect(await overTransport(client).record({ accessToken: 'worker', timeLog: LOG })).toMatchObject({
      answer: { success: true },
    });
    expect(host.lines).toEqual([AWAY, CONNECTED, AWAY, CONNECTED].map((line) => expect.stringMatching(line)));
    await client.close();
    await host.close();
    await second.stop();
  });
});
