import { afterEach, expect, it, jest } from '@jest/globals';
import { dropHostileParts } from './hostile-frames.js';
import { RabbitServer } from './rabbitmq.server.js';

const logger = { log: jest.fn(), error: jest.fn() };
const newServer = () =>
  new RabbitServer(new URL('amqp://127.0.0.1'), { queue: 'q', bodyLimit: 1_000, maxInFlight: 1, logger });
/** Returns a channel of which the server needs nothing but what it has. */
const newChannel = () => ({
  ...{ on: jest.fn(), ack: jest.fn(), nackAll: jest.fn() },
  ...{ assertQueue: jest.fn(), prefetch: jest.fn<() => Promise<void>>(), consume: jest.fn() },
});
const open = (server: RabbitServer, channel: object) =>
  server.setupChannel(channel as never, () => undefined);

afterEach(() => void jest.useRealTimers());

it('acknowledges and logs a message whose headers amqplib cannot decode', async () => {
  const connection = {
    rest: Buffer.alloc(19, 2),
    recvFrame(): { fields: object } {
      this.rest = Buffer.alloc(0);
      throw new Error('unknown type of a field');
    },
  };
  dropHostileParts(connection, Infinity);
  const [server, channel] = [newServer(), newChannel()];
  await open(server, channel);
  await server.handleMessage({ properties: connection.recvFrame().fields }, channel as never);
  expect(channel.ack).toHaveBeenCalledTimes(1);
  expect(logger.error.mock.calls).toEqual([
    ['messages: a message was thrown away: the headers cannot be read'],
  ]);
});

it('starts what it has acknowledged before it closes a channel that it replaces', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'performance', 'queueMicrotask', 'setImmediate'] });
  const [server, channel] = [newServer(), newChannel()];
  const order: string[] = [];
  const old = { on: jest.fn(), listenerCount: () => 1, close: async () => void order.push('closed') };
  const connection = { isConnected: () => true, createChannel: () => ({ ...old, close: jest.fn() }) };
  Object.assign(server, { server: connection, channel: old });
  server.addHandler('start', async () => void order.push('started'));
  await open(server, channel);
  let confirm!: () => void;
  channel.prefetch.mockReturnValue(new Promise((resolve) => (confirm = resolve)));
  const message = { content: Buffer.from('{"pattern":"start","data":{}}'), properties: {} };
  await server.handleMessage(message, channel as never);
  expect(channel.ack).toHaveBeenCalledWith(message, true);

  await server.handleMessage(null, channel as never);
  await jest.advanceTimersByTimeAsync(5_000);
  expect([channel.nackAll.mock.calls, order]).toEqual([[[true]], []]);
  confirm();
  while (order.length < 2) await new Promise((resolve) => setImmediate(resolve));
  expect(order.toSorted()).toEqual(['closed', 'started']);

  const [next, late] = [newChannel(), { ...message }];
  await open(server, next);
  await server.handleMessage(late, channel as never);
  expect([channel.ack, next.ack].map((ack) => ack.mock.calls)).toEqual([[[message, true]], []]);
});
