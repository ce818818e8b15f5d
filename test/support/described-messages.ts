import { join } from 'node:path';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import type { CloudEvent } from '../../src/feed/index.js';
import './compiled.js';

const { validatorOf } = (await importOnce(join(import.meta.dirname, 'document-validator.mjs'))) as {
  readonly validatorOf: (schema: object) => ValidateFunction;
};
const validators = new Map<string, ValidateFunction>();

/** Throws unless a part of the AsyncAPI document describes a value. */
function expectDescribed(part: string, value: unknown): void {
  const validate = validators.get(part) ?? validatorOf({ $ref: `asyncapi.json#/channels/${part}` });
  validators.set(part, validate);
  if (!validate(value))
    throw new Error(`the AsyncAPI document does not describe ${part}: ${JSON.stringify(validate.errors)}`);
}

/** The same for a message that was answered, and for the body of its answer. Hosts may answer in other ways. */
export function expectDescribedMessage(pattern: string, data: unknown, body: unknown): void {
  const { success } = Object(body) as { success?: boolean };
  if (success === undefined) return;
  const channel = pattern.split('.')[1]!;
  const [kind, reply] = success ? ['answer', { response: body }] : ['error', { err: body }];
  expectDescribed(`${channel}Reply/messages/${kind}/payload`, { id: '1', ...reply, isDisposed: true });
  if (success) expectDescribed(`${channel}/messages/request/payload`, { pattern, id: '1', data });
}

/** The same for an event, and for the headers of a webhook. */
export function expectDescribedEvent(event: CloudEvent, headers?: Readonly<Record<string, unknown>>): void {
  const change = event.type.split('.')[1]!;
  expectDescribed(`${change}/messages/event/payload`, event);
  if (headers === undefined) return;
  const own = Object.entries(headers).filter(([name]) => name.startsWith('webhook-'));
  expectDescribed(`webhook/messages/${change}/headers`, Object.fromEntries(own));
}
