import { EventEmitter, once } from 'node:events';
import { Readable } from 'node:stream';
import { setImmediate as nextIteration } from 'node:timers/promises';
import type { ExecutionContext } from '@nestjs/common';
import { expect, it, jest } from '@jest/globals';
import { Rule } from './constraints.js';
import { applyRules } from './request-state.js';
import { StrictBatch } from './strict-batch.js';

class Item {
  @Rule(() => undefined)
  extra?: unknown;
}
class Batch {
  @Rule(() => undefined)
  items!: Item[];
}
class Controller {
  record = () => undefined;
}
StrictBatch({ batch: Batch, list: 'items', dto: Item })(Controller.prototype, 'record', 0);
type Factory = (shape: unknown, context: ExecutionContext) => Promise<Batch>;
const [parameter] = Object.values(
  Reflect.getMetadata('__routeArguments__', Controller, 'record') as Record<
    string,
    { factory: Factory; data: unknown }
  >,
);

/** Reads a batch of one item, whose extra field is checked by a rule. */
function readBatch(rule: () => Promise<{ faults: [] }>, response = { closed: false, once: jest.fn() }) {
  const body = Readable.from([Buffer.from('{"items":[{"extra":1}]}')]);
  const headers = { 'content-type': 'application/json' };
  const request = Object.assign(body, {
    headers,
    rawHeaders: ['Content-Type', ''],
    originalUrl: '/',
    params: {},
    complete: true,
    socket: new EventEmitter(),
  });
  applyRules(request, {
    bodyLimit: 100,
    batchLimit: 100,
    deadline: 60_000,
    extraField: { dto: Item, name: 'extra', rule },
  });
  const http = { getRequest: () => request, getResponse: () => response };
  const batch = parameter!.factory(parameter!.data, {
    switchToHttp: () => http,
  } as unknown as ExecutionContext);
  return { batch, received: once(body, 'end'), response };
}

it('StrictBatch parses one batch at a time, and none whose client has gone', async () => {
  const parse = jest.spyOn(JSON, 'parse');
  let endCheck: (result: { faults: [] }) => void = jest.fn();
  const check = new Promise<{ faults: [] }>((resolve) => (endCheck = resolve));
  const batches = Array.from({ length: 3 }, () => readBatch(() => check));
  await Promise.all(batches.map(({ received }) => received));
  for (let iteration = 0; iteration < 5; iteration++) await nextIteration();
  expect(parse).toHaveBeenCalledTimes(1);
  batches[1]!.response.closed = true;
  endCheck({ faults: [] });
  const results = await Promise.allSettled(batches.map(({ batch }) => batch));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(parse).toHaveBeenCalledTimes(2);
  parse.mockRestore();
});
