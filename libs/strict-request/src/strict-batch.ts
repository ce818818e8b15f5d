import { setImmediate as nextIteration } from 'node:timers/promises';
import { createParamDecorator, type ExecutionContext, type Type } from '@nestjs/common';
import type { Request } from 'express';
import { batchError, type Fault, faultOf, faultsAt } from '../../errors/src/index.js';
import { isJsonObject, MAX_JSON_DEPTH, readJsonObject } from './json-body.js';
import { CheckedInput, limitOf, type Served, STATE } from './request-state.js';
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

/** The milliseconds after which the check of a batch lets other requests run. */
const CHECK_SLICE_MS = 10;

/**
 * Injects the body of a batch as a validated instance of its DTO, with validated objects. Each may
 * have the extra field of the module's RequestRules. Throws one error for all of them. A query on such a route is
 * refused.
 */
export const StrictBatch: (shape: BatchShape) => ParameterDecorator = createParamDecorator(
  async (shape: BatchShape, context: ExecutionContext) => {
    const request = context.switchToHttp().getRequest<Request & Served>();
    refuseQuery(request);
    const limit = limitOf(request, 'batchLimit');
    const body = await readJsonObject(request, { limit, depth: MAX_JSON_DEPTH + 2 });
    return checkBatch(request, shape, body);
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
