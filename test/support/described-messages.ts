import { join } from 'node:path';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import type { CloudEvent } from '../../src/feed/index.js';
import './compiled.js';

const { validatorOf } = (await importOnce(join(import.meta.dirname, 'document-validator.mjs'))) as {
  readonly validatorOf: (schema: object) => ValidateFunction;
};
const ANSWERS: Readonly<Record<string, string>> = {
  'time-log.record.v1': 'TimeLogRecorded',
  'time-log.list.v1': 'TimeLogList',
  'time-log.totals.v1': 'Totals',
};
const validators = new Map<string, ValidateFunction>();

/** Throws unless a schema of the OpenAPI document describes a value. */
function expectDescribed(name: string, value: unknown): void {
  const validate = validators.get(name) ?? validatorOf({ $ref: `openapi.json#/components/schemas/${name}` });
  validators.set(name, validate);
  if (!validate(value)) throw new Error(`${name} does not describe it: ${JSON.stringify(validate.errors)}`);
}

/** Throws unless the answer to a message is a body that HTTP answers too. Hosts may answer in other ways. */
export function expectDescribedMessage(pattern: string, body: unknown): void {
  const { success, replayed, ...rest } = Object(body) as { success?: boolean; replayed?: boolean };
  if (success === undefined) return;
  const isReplay = pattern === 'time-log.record.v1' && replayed === true;
  expectDescribed(success ? ANSWERS[pattern]! : 'ErrorBody', isReplay ? { success, ...rest } : body);
}

/** Throws unless an event is one of the feed. */
export function expectDescribedEvent(event: CloudEvent): void {
  expectDescribed('TimeLogEvent', event);
}
