import { randomUUID } from 'node:crypto';
import { connect } from 'amqplib';
import { eventually } from '../../../libs/host-kit/src/contract/eventually.js';

const DIRECT = 'amq.rabbitmq.reply-to';

/** Somebody who sends bytes to the queue of the service, as they are. The queue is made if there is none. */
export interface Sender {
  /** Resolves with the answer. */
  ask(content: Buffer, headers?: object): Promise<string>;
  /** Sends without an address for an answer. */
  tell(content: Buffer): void;
  /** How many messages the broker has not given to anybody. */
  left(): Promise<number>;
  /** Takes a message from the queue, and puts it back, so many times. */
  putBack(times: number): Promise<void>;
  close(): Promise<void>;
}

export async function startSender(url: string): Promise<Sender> {
  const connection = await connect(url);
  connection.on('error', () => undefined);
  const channel = await connection.createChannel();
  await channel.assertQueue('time-logs');
  const waiting = new Map<string, (answer: string) => void>();
  const take = (answer: { content: Buffer; properties: { correlationId?: string } } | null) =>
    waiting.get(answer?.properties.correlationId ?? '')?.(answer!.content.toString());
  await channel.consume(DIRECT, take, { noAck: true });
  return {
    ask: (content, headers = {}) =>
      new Promise((resolve) => {
        const correlationId = randomUUID();
        waiting.set(correlationId, resolve);
        channel.sendToQueue('time-logs', content, { replyTo: DIRECT, correlationId, headers });
      }),
    left: async () => (await channel.checkQueue('time-logs')).messageCount,
    putBack: async (times) => {
      for (let time = 0; time < times; time++) {
        const message = await eventually(async () => {
          const got = await channel.get('time-logs');
          if (!got) throw new Error('the queue is empty');
          return got;
        });
        channel.nack(message);
      }
    },
    tell: (content) => channel.sendToQueue('time-logs', content),
    close: () => connection.close(),
  };
}
