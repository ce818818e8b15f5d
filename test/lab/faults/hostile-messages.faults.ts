import type { Writable } from 'node:stream';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { connect as connectNats, type NatsConnection } from '@nats-io/transport-node';
import { connect as connectRabbit } from 'amqplib';
import { firstColumn } from '../../support/postgres-cluster.js';
import { LOG } from '../../support/requests.js';
import { type Nats, type Rabbit, startNats, startRabbit } from '../brokers/brokers.js';
import { startSender } from '../brokers/rabbitmq-sender.js';
import { describeWith } from '../describe-with.js';
import { eventually, WAIT_LIMIT } from '../eventually.js';
import { memoryFromNow, served } from './support/abused-service.js';
import { linesOf, serve } from './support/serve.js';
import { TOKEN } from './support/service-under-writes.js';
import { useCluster } from './support/use-cluster.js';

const DIRECT = 'amq.rabbitmq.reply-to';
const CREATES = 300;
/** Megabytes that a service may need beside messages without a token. */
const MOST_MEMORY = 320;
/** Milliseconds for `/livez`: hundreds of times what it takes. 20,000 lines once stopped the process for 30 s. */
const MAX_LATENCY_MS = 5_000;
const REFUSED = /a message was refused: its reply address/;
const THROWN_AWAY = /a message was thrown away: the headers cannot be read/;

const record = (more: object = {}) => {
  const data = { accessToken: TOKEN, timeLog: LOG, ...more };
  return Buffer.from(JSON.stringify({ pattern: 'time-log.record.v1', id: '1', data }));
};

const postgres = useCluster();

async function start(messagesUrl: string, more: Record<string, string> = {}) {
  const url = await postgres.createDatabase();
  const service = await serve(url, { MESSAGES_URL: messagesUrl, ...more });
  await eventually(() => expect(service.output()).toContain('messages: connected to'));
  const stored = async () => (await firstColumn(url, 'select id from time_logs')).length;
  return { ...service, stored };
}

describeWith('nats-server')('senders over NATS without a token', () => {
  let broker: Nats;
  let sender: NatsConnection;
  beforeAll(async () => {
    broker = await startNats();
    sender = await connectNats({ servers: broker.url.slice(7) });
  });
  afterAll(async () => {
    await sender.close();
    await broker.stop();
  });

  /** Publishes a message with header lines that differ, as no client library does. */
  function publishWithLines(lines: number): void {
    const encode = () =>
      Buffer.from(`NATS/1.0\r\n${Array.from({ length: lines }, (_, line) => `${line}:\r\n`).join('')}\r\n`);
    sender.publish('time-log.record.v1', '{"id":"1","data":{}}', { headers: { encode } as never });
  }

  it('keep nobody waiting by 120,000 header lines', async () => {
    const running = await start(broker.url);
    for (let i = 0; i < 50; i++) await served(running, '/livez');
    const times: number[] = [];
    for (let sent = 0; sent < 20; sent++) {
      publishWithLines(120_000);
      await sender.flush();
      for (let asked = 0; asked < 5; asked++) times.push(await served(running, '/livez'));
    }
    console.log(`120,000 header lines: livez at most ${Math.max(...times).toFixed()} ms`);
    expect(Math.max(...times)).toBeLessThan(MAX_LATENCY_MS);
    const answer = await sender.request('time-log.record.v1', record(), { timeout: WAIT_LIMIT });
    expect(answer.json()).toMatchObject({ response: { success: true } });
  });

  it(`need less than ${MOST_MEMORY} MB for 320,000 messages, half of them with tokens that must be looked up`, async () => {
    const running = await start(broker.url);
    const memory = await memoryFromNow(running);
    const times: number[] = [];
    for (let sent = 0; sent < 320_000; sent++) {
      const accessToken = sent % 2 ? 'wrong' : `tl_${String(sent).padStart(43, 'A')}`;
      sender.publish('time-log.record.v1', JSON.stringify({ id: '1', data: { accessToken, timeLog: {} } }));
      if (sent % 5_000 === 0) times.push(await served(running, '/livez'));
    }
    await sender.flush();
    await served(running, '/health');
    const { peak } = await memory('320,000 messages', times);
    expect(peak).toBeLessThan(MOST_MEMORY);
  });
});

describeWith('rabbitmq-server')('senders over RabbitMQ without a token', () => {
  let broker: Rabbit;
  beforeAll(async () => {
    broker = await startRabbit();
    // Its port is open before it takes commands.
    await broker.control('await_startup');
  });
  afterAll(() => broker.stop());

  /** The bytes of arrays in one another, but for the length of the first. */
  function nested(depth: number): Buffer {
    let value = Buffer.alloc(0);
    for (let level = 1; level < depth; level++) {
      const head = Buffer.from('A....');
      head.writeUInt32BE(value.length, 1);
      value = Buffer.concat([head, value]);
    }
    return value;
  }

  /** Opens a channel that can give the header `odd` a tag that amqplib does not write. */
  async function openOdd(url: string) {
    const connection = await connectRabbit(url);
    let tag = '';
    const { stream } = (connection as unknown as { connection: { stream: Writable } }).connection;
    const write = stream.write.bind(stream);
    stream.write = (bytes: Buffer) => {
      const at = bytes.indexOf('\x03odd');
      if (at >= 0) bytes.write(tag, at + 4, 'latin1');
      // No text has these bytes.
      for (let to = bytes.indexOf('~~~'); to >= 0 && bytes[to] === 0x7e; to++) bytes[to] = 0xff;
      return write(bytes);
    };
    const channel = await connection.createConfirmChannel();
    return {
      channel,
      send: async (retag: string, odd: unknown) => {
        tag = retag;
        // With direct reply-to RabbitMQ would rewrite the headers.
        channel.sendToQueue('time-logs', record(), { headers: { odd } });
        await channel.waitForConfirms();
      },
      close: () => connection.close(),
    };
  }

  it(`need less than ${MOST_MEMORY} MB for messages of 42 MB, of which JSON.parse makes twenty times as many bytes`, async () => {
    const running = await start(broker.url);
    const memory = await memoryFromNow(running);
    const sender = await startSender(broker.url);
    const objects = `[{}${',{}'.repeat(14_000_000)}]`;
    const message = Buffer.from(`{"pattern":"time-log.record.v1","id":"1","data":${objects}}`);
    const times: number[] = [];
    for (let sent = 0; sent < 5; sent++) {
      const answer = sender.ask(message);
      times.push(await served(running, '/livez'));
      expect(JSON.parse(await answer)).toMatchObject({ err: { error: 'PAYLOAD_TOO_LARGE' } });
    }
    const { peak } = await memory('messages of 42 MB', times);
    expect(peak).toBeLessThan(MOST_MEMORY);
    expect(JSON.parse(await sender.ask(record()))).toMatchObject({ response: { success: true } });
    await sender.close();
  });

  // In a quorum queue RabbitMQ rewrites the headers, so that one of the two types is known.
  it.each([
    ['classic', 6],
    ['quorum', 3],
  ])('harm no messages but their own, in a %s queue', async (type, thrownAway) => {
    await broker.control('add_vhost', type, '--default-queue-type', type);
    await broker.control('set_permissions', '-p', type, 'guest', '.*', '.*', '.*');
    const url = `${broker.url}/${type}`;
    const running = await start(url, { MESSAGES_REPLY_QUEUES: 'replies-*' });
    const sender = await startSender(url);
    const odd = await openOdd(url);
    for (const queue of ['events', 'replies-one']) await odd.channel.assertQueue(queue);
    await odd.channel.consume(DIRECT, () => undefined, { noAck: true });
    const answers: Promise<string>[] = [];
    for (let sent = 0; sent < CREATES; sent++) {
      answers.push(sender.ask(record({ idempotencyKey: `key-${sent}` })));
      if (sent % 100 !== 50) continue;
      await odd.send('L', { '!': 'timestamp', value: 1 });
      await odd.send('A', nested(12_000));
      // The answer cannot be sent.
      odd.channel.sendToQueue('time-logs', Buffer.from('{'), {
        replyTo: DIRECT,
        correlationId: '~'.repeat(255),
      });
      odd.channel.sendToQueue('time-logs', record(), { replyTo: 'events' });
    }
    for (const answer of answers)
      expect(JSON.parse(await answer)).toMatchObject({ response: { success: true } });
    odd.channel.sendToQueue('time-logs', record(), { replyTo: 'replies-one' });
    await eventually(async () => {
      const { messageCount } = await odd.channel.checkQueue('replies-one');
      expect(messageCount).toBe(1);
    });
    expect(await odd.channel.checkQueue('events')).toMatchObject({ messageCount: 0 });
    expect(await sender.left()).toBe(0);
    expect(await running.stored()).toBe(CREATES + 1 + 6 - thrownAway);
    expect(running.output()).toMatch(THROWN_AWAY);
    expect(linesOf(running, REFUSED)).toBe(1);
    expect(linesOf(running, /connected to/)).toBe(1);
    await odd.close();
    await sender.close();
  });
});
