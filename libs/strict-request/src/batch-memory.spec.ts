import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, it } from '@jest/globals';
import { BatchMemory } from './batch-memory.js';

const refused = expect.objectContaining({ code: 'SERVICE_UNAVAILABLE' });

/** Returns a response that is open until `close`. */
function newResponse() {
  const response = Object.assign(new EventEmitter(), { closed: false });
  const close = () => {
    response.closed = true;
    response.emit('close');
  };
  return { response: response as unknown as ServerResponse, close };
}

it('BatchMemory refuses more bytes than all callers, or one of them, may have under way', () => {
  const memory = new BatchMemory(10, 6);
  const [ada, again, bob, eve] = [newResponse(), newResponse(), newResponse(), newResponse()];
  const countAda = memory.counterFor('ada', ada.response);
  const countAgain = memory.counterFor('ada', again.response);
  countAda(2);
  countAda(2);
  expect(() => countAgain(3)).toThrow(refused);
  countAgain(2);
  memory.counterFor('bob', bob.response)(4);
  const countEve = memory.counterFor('eve', eve.response);
  expect(() => countEve(1)).toThrow(refused);
  ada.close();
  // Nobody would subtract these.
  countAda(6);
  countEve(4);
  expect(() => countAgain(1)).toThrow(refused);
  for (const { close } of [again, bob, eve]) close();
  memory.counterFor('bob', newResponse().response)(6);
  memory.counterFor('ada', newResponse().response)(4);
});
