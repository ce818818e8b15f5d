import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { expect, it } from '@jest/globals';
import { BatchMemory } from './batch-memory.js';

const refused = expect.objectContaining({ code: 'SERVICE_UNAVAILABLE' });

/** Returns a request and its response until `close`, which may be that of their connection. */
function newExchange() {
  const [socket, response] = [new EventEmitter(), new EventEmitter()];
  Object.assign(socket, { destroyed: false });
  Object.assign(response, { closed: false });
  return {
    exchange: [{ socket: socket as Socket }, response as ServerResponse] as const,
    close: () => Object.assign(response, { closed: true }).emit('close'),
    disconnect: () => Object.assign(socket, { destroyed: true }).emit('close'),
    listeners: () => socket.listenerCount('close') + response.listenerCount('close'),
  };
}

it('BatchMemory refuses more bytes than all callers, or one of them, may have under way', () => {
  const memory = new BatchMemory(10, 6);
  const [ada, again, bob, eve] = [newExchange(), newExchange(), newExchange(), newExchange()];
  const countAda = memory.counterFor('ada', ...ada.exchange);
  const countAgain = memory.counterFor('ada', ...again.exchange);
  countAda(2);
  countAda(2);
  expect(() => countAgain(3)).toThrow(refused);
  countAgain(2);
  memory.counterFor('bob', ...bob.exchange)(4);
  const countEve = memory.counterFor('eve', ...eve.exchange);
  expect(() => countEve(1)).toThrow(refused);
  ada.close();
  // Nobody would subtract these.
  countAda(6);
  countEve(4);
  expect(() => countAgain(1)).toThrow(refused);
  for (const { close } of [again, bob, eve]) close();
  memory.counterFor('bob', ...newExchange().exchange)(6);
  memory.counterFor('ada', ...newExchange().exchange)(4);
});

it.each([
  ['response', ['close', 'disconnect']],
  ['connection, as of a response behind another one', ['disconnect', 'close']],
] as const)(
  'BatchMemory subtracts the bytes of a request once, at the close of its %s',
  (_what, [first, then]) => {
    const memory = new BatchMemory(10, 10);
    const request = newExchange();
    const count = memory.counterFor('ada', ...request.exchange);
    count(10);
    request[first]();
    expect(request.listeners()).toBe(0);
    request[then]();
    count(1);
    const countNext = memory.counterFor('ada', ...newExchange().exchange);
    countNext(10);
    expect(() => countNext(1)).toThrow(refused);
  },
);
