import type { ExtraField, RequestState } from '../../../libs/strict-request/src/index.js';
import type { CheckedAttributes, TimeLogAttributes } from '../domain/attributes.js';
import { check, markChecked, type TimeLogValues } from '../domain/time-log.js';
import { CreateTimeLogDto } from './create-time-log.dto.js';

/** Returns the body field `attributes`; undefined if the host has no schema for it. */
export function attributesField(attributes: TimeLogAttributes): ExtraField | undefined {
  if (!attributes.areKnown) return undefined;
  return { dto: CreateTimeLogDto, name: 'attributes', rule: (value) => attributes.check(value) };
}

/**
 * Returns the values of a body, with its attributes as the schema converted them. Checks the values again if a
 * pipe of the host has changed the body. Throws DomainError VALIDATION_ERROR.
 */
export function valuesOf(body: CreateTimeLogDto, state: RequestState): TimeLogValues {
  const isChecked = state.isUnchangedSinceCheck(body);
  if (state.extraFieldResult === undefined) return isChecked ? markChecked(body) : body;
  const { input, output } = state.extraFieldResult as CheckedAttributes;
  const values = { ...(body as TimeLogValues), attributes: output };
  return isChecked ? markChecked(values, input) : check(values, input);
}
