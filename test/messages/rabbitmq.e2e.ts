import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ClientProxyFactory, Transport } from '@nestjs/microservices';
import { connect } from 'amqplib';
import { type Broker, describeWith, startRabbit } from './brokers.js';
import { describeDoor } from './door.contract.js';
import { overTransport } from './doors.js';
import { startMessageHost } from './host.js';
import { describeMessages } from './message.contract.js';

describeWith('rabbitmq-server')('with RabbitMQ', () => {
  let broker: Broker;
  beforeAll(async () => {
    broker = await startRabbit();
  });
  afterAll(() => broker.stop());

  const open = async () => {
    const host = await startMessageHost(broker.url);
    const client = ClientProxyFactory.create({
      transport: Transport.RMQ,
      options: { urls: [broker.url], queue: 'time-logs' },
    });
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

  it('answers bytes that are no JSON', async () => {
    const opened = await open();
    await opened.door.list({ accessToken: 'reader' });
    const connection = await connect(broker.url);
    const channel = await connection.createChannel();
    const replyTo = 'amq.rabbitmq.reply-to';
    const answer = new Promise<string>((resolve) => {
      void channel.consume(replyTo, (message) => resolve(message!.content.toString()), { noAck: true });
    });
    channel.sendToQueue('time-logs', Buffer.from('{'), { replyTo, correlationId: '1' });
    expect(JSON.parse(await answer)).toMatchObject({ err: { success: false, error: 'VALIDATION_ERROR' } });
    await connection.close();
    await opened.close();
  });
});
