import { setImmediate as nextIteration } from 'node:timers/promises';
import { createParamDecorator, type ExecutionContext, type Type } from '@nestjs/common';
import type { Request } from 'express';
import { batchError, type Fault, faultOf, faultsAt } from '../../errors/src/index.js';
import { isJsonObject, MAX_JSON_DEPTH, receiveJsonObject, refuseQuery } from './strict-body.js';
import { rulesOf } from '../../request-state/src/index.js';
import {
  allFaultsOf,
  faultsIn,
  FIELD,
  isValid,
  tryValidate,
  type ValidatedObject,
  validateObject,
} from './validate.js';

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
 * Injects a function that parses the body of a batch. Call it when the batch waits no longer: a parsed body takes
 * several times the memory of its bytes. The function returns a validated instance of its DTO, with validated objects,
 * and throws one error for all of them. A query on such a route is refused.
 */
export const StrictBatch: (shape: BatchShape) => ParameterDecorator = createParamDecorator(
  async (shape: BatchShape, context: ExecutionContext) => {
    const request = context.switchToHttp().getRequest<Request>();
    refuseQuery(request);
    const { batchLimit: limit } = rulesOf(request);
    const parse = await receiveJsonObject(request, { limit, depth: MAX_JSON_DEPTH + 2 });
    return async () => validateBatch(request, shape, parse());
  },
);

async function validateBatch(
  request: Request,
  { batch, list, dto }: BatchShape,
  body: object,
): Promise<object> {
  const outer = tryValidate(batch, body, FIELD);
  const inputs = outer.faults.length > 0 ? [] : (Reflect.get(outer.instance, list) as unknown[]);
  const validated: (ValidatedObject<object> | undefined)[] = [];
  let sliceEnd = performance.now() + CHECK_SLICE_MS;
  for (const input of inputs) {
    if (performance.now() > sliceEnd) {
      await nextIteration();
      sliceEnd = performance.now() + CHECK_SLICE_MS;
    }
    validated.push(isJsonObject(input) ? validateObject(request, dto, input) : undefined);
  }
  const valid = validated.filter((one) => one !== undefined && isValid(one)) as ValidatedObject<object>[];
  if (!isValid(outer) || valid.length < inputs.length) {
    const faults = await faultsOfObjects(list, inputs, validated);
    throw batchError([...faults, ...faultsIn(outer, FIELD)]);
  }
  return Object.assign(outer.instance, { [list]: valid.map(({ instance }) => instance) });
}

/** Returns the faults of all objects of a batch that is refused. */
async function faultsOfObjects(
  list: string,
  inputs: readonly unknown[],
  validated: readonly (ValidatedObject<object> | undefined)[],
): Promise<Fault[]> {
  const all: Fault[] = [];
  for (const [index, one] of validated.entries()) {
    const place = `${list}[${index}]`;
    if (one) {
      const faults = await allFaultsOf(one);
      all.push(...faultsAt(place, faultsIn({ faults, unknown: one.unknown }, FIELD)));
    } else {
      all.push(faultOf(place, inputs[index], 'type', 'must be a JSON object', { type: 'object' }));
    }
  }
  return all;
}
