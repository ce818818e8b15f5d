import { setImmediate as nextIteration } from 'node:timers/promises';
import { createParamDecorator, type ExecutionContext, type Type } from '@nestjs/common';
import type { Request, Response } from 'express';
import { BatchMemory } from './batch-memory.js';
import { isJsonObject, MAX_JSON_DEPTH, readJsonObject } from './json-body.js';
import { CheckedInput, type Served, STATE } from './request-state.js';
import { checkInput, checkWithExtraField, type InputDescription, messagesOf } from './validate.js';

const FIELD: InputDescription = { noun: 'field' };

/** The form of a batch: a body with a list of objects, each of which may be as deep as another body. */
export interface BatchShape {
  /** The DTO of the body, which also checks that `list` is an array of an allowed length. */
  readonly batch: Type<object>;
  /** The name of the list. */
  readonly list: string;
  /** The DTO of an object. */
  readonly dto: Type<object>;
  /** Adds the place of an object to its messages. */
  readonly faultsAt: (index: number, faults: readonly string[]) => readonly string[];
  /** Returns the error with these messages, for the client and for the log. */
  readonly errorOf: (faults: readonly string[], logged: readonly string[]) => Error;
}

const batchMemory = new BatchMemory();

/** The milliseconds after which the check of a batch lets other requests run. */
const CHECK_SLICE_MS = 10;

let lastIteration: Promise<unknown> = Promise.resolve();

/** Resolves in an iteration of the event loop in which no other batch is checked, so that many delay no others. */
function nextFreeIteration(): Promise<unknown> {
  return (lastIteration = lastIteration.then(() => nextIteration()));
}

/**
 * Injects the body of a batch as a validated instance of its DTO, with validated objects. Each may
 * have the extra field of the module's RequestRules. Throws one error for all of them.
 */
export const StrictBatch: (shape: BatchShape) => ParameterDecorator = createParamDecorator(
  async ({ batch, list, dto, faultsAt, errorOf }: BatchShape, context: ExecutionContext) => {
    const http = context.switchToHttp();
    const request = http.getRequest<Request & Served>();
    const state = request[STATE];
    const body = await readJsonObject(request, {
      limit: state.batchLimit,
      depth: MAX_JSON_DEPTH + 2,
      reportBytes: batchMemory.counterFor(state.caller?.id, http.getResponse<Response>()),
    });
    await nextFreeIteration();
    const outer = checkInput(batch, body, FIELD);
    const items: object[] = [];
    const checkedItems: CheckedInput[] = [];
    const faults: string[] = [];
    const logged: string[] = [];
    const inputs = outer.faults.length > 0 ? [] : (Reflect.get(outer.instance, list) as unknown[]);
    let sliceEnd = performance.now() + CHECK_SLICE_MS;
    for (const [index, input] of inputs.entries()) {
      if (performance.now() > sliceEnd) {
        await nextFreeIteration();
        sliceEnd = performance.now() + CHECK_SLICE_MS;
      }
      if (!isJsonObject(input)) {
        faults.push(`${list}[${index}] must be a JSON object`);
        logged.push(faults.at(-1)!);
        continue;
      }
      const checkedItem = new CheckedInput();
      const result = await checkWithExtraField(request, dto, input, FIELD, checkedItem);
      items.push(result.instance);
      checkedItems.push(checkedItem);
      if (result.faults.length + result.unknown.length === 0) continue;
      const messages = messagesOf(result, FIELD);
      faults.push(...faultsAt(index, messages.faults));
      logged.push(...faultsAt(index, messages.logged));
    }
    const messages = messagesOf(outer, FIELD);
    faults.push(...messages.faults);
    logged.push(...messages.logged);
    if (faults.length > 0) throw errorOf(faults, logged);
    state.checkedItems = checkedItems;
    return Object.assign(outer.instance, { [list]: items });
  },
);
