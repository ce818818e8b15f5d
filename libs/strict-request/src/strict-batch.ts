import { setImmediate as nextIteration } from 'node:timers/promises';
import { createParamDecorator, type ExecutionContext, type Type } from '@nestjs/common';
import type { Request, Response } from 'express';
import { batchError, DomainError, type Fault, faultOf, faultsAt } from '../../errors/src/index.js';
import { BatchMemory, isOver } from './batch-memory.js';
import { isJsonObject, MAX_JSON_DEPTH, receiveJsonObject } from './json-body.js';
import { CheckedInput, type Served, STATE } from './request-state.js';
import { refuseQuery } from './strict-request.decorators.js';
import { checkInput, checkWithExtraField, faultsIn, FIELD } from './validate.js';

/** The form of a batch: a body with a list of objects, each of which may be as deep as another body. */
export interface BatchShape {
  /** The DTO of the body, which also checks that `list` is an array of an allowed length. */
  readonly batch: Type<object>;
  /** The name of the list. */
  readonly list: string;
  /** The DTO of an object. */
  readonly dto: Type<object>;
}

const batchMemory = new BatchMemory();

/** The milliseconds after which the check of a batch lets other requests run. */
const CHECK_SLICE_MS = 10;

/** The minimum of bytes for each value, on average over a batch of the maximum size: twice as many values as usual. */
const BYTES_OF_A_VALUE = 8;

let lastTurn: Promise<unknown> = Promise.resolve();

/**
 * Parses and checks one batch at a time, each from an iteration of the event loop of its own, so that many need
 * little memory and delay no other requests.
 */
function inTurn<T>(request: Request, response: Response, work: () => Promise<T>): Promise<T> {
  const turn = lastTurn.then(async () => {
    // The memory of its body is no longer counted.
    if (isOver(request, response)) throw new DomainError('REQUEST_TIMEOUT', 'the client has disconnected');
    await nextIteration();
    return work();
  });
  lastTurn = turn.then(noop, noop);
  return turn;
}

const noop = () => undefined;

/**
 * Injects the body of a batch as a validated instance of its DTO, with validated objects. Each may
 * have the extra field of the module's RequestRules. Throws one error for all of them. A query on such a route is
 * refused.
 */
export const StrictBatch: (shape: BatchShape) => ParameterDecorator = createParamDecorator(
  async (shape: BatchShape, context: ExecutionContext) => {
    const http = context.switchToHttp();
    const request = http.getRequest<Request & Served>();
    const response = http.getResponse<Response>();
    refuseQuery(request);
    const { batchLimit, caller } = request[STATE];
    const parse = await receiveJsonObject(request, {
      limit: batchLimit,
      depth: MAX_JSON_DEPTH + 2,
      maxValues: batchLimit && Math.floor(batchLimit / BYTES_OF_A_VALUE),
      reportBytes: batchMemory.counterFor(caller?.id, request, response),
    });
    return inTurn(request, response, () => checkBatch(request, shape, parse()));
  },
);

async function checkBatch(
  request: Request & Served,
  { batch, list, dto }: BatchShape,
  body: object,
): Promise<object> {
  const outer = checkInput(batch, body, FIELD);
  const items: object[] = [];
  const checkedItems: CheckedInput[] = [];
  const faults: Fault[] = [];
  const inputs = outer.faults.length > 0 ? [] : (Reflect.get(outer.instance, list) as unknown[]);
  let sliceEnd = performance.now() + CHECK_SLICE_MS;
  for (const [index, input] of inputs.entries()) {
    if (performance.now() > sliceEnd) {
      await nextIteration();
      sliceEnd = performance.now() + CHECK_SLICE_MS;
    }
    const place = `${list}[${index}]`;
    if (!isJsonObject(input)) {
      faults.push(faultOf(place, input, 'type', 'must be a JSON object', { type: 'object' }));
      continue;
    }
    const checkedItem = new CheckedInput();
    const result = await checkWithExtraField(request, dto, input, FIELD, checkedItem);
    items.push(result.instance);
    checkedItems.push(checkedItem);
    faults.push(...faultsAt(place, faultsIn(result, FIELD)));
  }
  faults.push(...faultsIn(outer, FIELD));
  if (faults.length > 0) throw batchError(faults);
  request[STATE].checkedItems = checkedItems;
  return Object.assign(outer.instance, { [list]: items });
}
