import { expect, it, jest } from '@jest/globals';
import { RabbitServer } from './rabbitmq.server.js';
import { deliverUnreadable } from './unreadable-message.js';

/** Returns a message whose headers amqplib cannot decode. */
function unreadable(): object {
  const connection = {
    rest: Buffer.alloc(19, 2),
    recvFrame(): { fields: object } {
      this.rest = Buffer.alloc(0);
      throw new Error('unknown type of a field');
    },
  };
  deliverUnreadable(connection);
  return { properties: connection.recvFrame().fields };
}

it('acknowledges unreadable messages, and logs them at most once a minute', async () => {
  jest.useFakeTimers();
  const logger = { log: jest.fn(), error: jest.fn() };
  const options = { queue: 'q', bodyLimit: 1, maxInFlight: 1, logger };
  const server = new RabbitServer(new URL('amqp://127.0.0.1'), options);
  const ack = jest.fn();
  const take = () => server.handleMessage(unreadable(), { ack } as never);
  const line = (start: string) => [`messages: ${start} thrown away: the headers cannot be read`];
  for (let message = 0; message < 4; message++) await take();
  expect(ack).toHaveBeenCalledTimes(4);
  expect(logger.error.mock.calls).toEqual([line('a message was')]);
  jest.advanceTimersByTime(120_000);
  await take();
  expect(logger.error.mock.calls.slice(1)).toEqual([line('3 messages were'), line('a message was')]);
  jest.useRealTimers();
});
