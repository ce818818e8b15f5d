import type { ExtraField, RequestState } from '../../../libs/strict-request/src/index.js';
import type { CheckedAttributes, TimeLogAttributes } from '../domain/attributes.js';
import { check, takeChecked, type TimeLogValues } from '../domain/time-log.js';
import { CreateTimeLogDto } from './create-time-log.dto.js';

/** Returns the member for attributes of the body of a log; undefined if the host has no schema for them. */
export function attributesMember(attributes: TimeLogAttributes): ExtraField | undefined {
  if (!attributes.areKnown) return undefined;
  return { dto: CreateTimeLogDto, name: 'attributes', rule: (value) => attributes.check(value) };
}

/**
 * Returns the values of a body, with its attributes as the schema has put them out when the body was checked. They are
 * checked again if a pipe of the host has changed the body since. Throws DomainError VALIDATION_ERROR.
 */
export function valuesOf(body: CreateTimeLogDto, state: RequestState): TimeLogValues {
  const isChecked = state.isUnchangedSinceCheck(body);
  if (state.extraFieldResult === undefined) return isChecked ? takeChecked(body) : body;
  const { input, output } = state.extraFieldResult as CheckedAttributes;
  const values = { ...(body as TimeLogValues), attributes: output };
  return isChecked ? takeChecked(values, input) : check(values, input);
}
