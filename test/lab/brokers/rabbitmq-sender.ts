import { randomUUID } from 'node:crypto';
import { connect } from 'amqplib';

const DIRECT = 'amq.rabbitmq.reply-to';

/** Somebody who sends bytes to the queue of the service, as they are. The queue is made if there is none. */
export interface Sender {
  /** Resolves with the answer. */
  ask(content: Buffer, headers?: object): Promise<string>;
  /** Sends without an address for an answer. */
  tell(content: Buffer): void;
  /** How many messages the broker has not given to anybody. */
  left(): Promise<number>;
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
    tell: (content) => channel.sendToQueue('time-logs', content),
    close: () => connection.close(),
  };
}
