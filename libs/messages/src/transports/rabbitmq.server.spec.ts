import { expect, it, jest } from '@jest/globals';
import { dropHostileParts } from './hostile-frames.js';
import { RabbitServer } from './rabbitmq.server.js';

it('acknowledges and logs a message whose headers amqplib cannot decode', async () => {
  const connection = {
    rest: Buffer.alloc(19, 2),
    recvFrame(): { fields: object } {
      this.rest = Buffer.alloc(0);
      throw new Error('unknown type of a field');
    },
  };
  dropHostileParts(connection, Infinity);
  const logger = { log: jest.fn(), error: jest.fn() };
  const options = { queue: 'q', bodyLimit: 1, maxInFlight: 1, logger };
  const server = new RabbitServer(new URL('amqp://127.0.0.1'), options);
  const ack = jest.fn();
  await server.handleMessage({ properties: connection.recvFrame().fields }, { ack } as never);
  expect(ack).toHaveBeenCalledTimes(1);
  expect(logger.error.mock.calls).toEqual([
    ['messages: a message was thrown away: the headers cannot be read'],
  ]);
});
