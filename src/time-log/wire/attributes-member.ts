import type { FurtherMember, MemberVerdict } from '../../../libs/strict-request/src/index.js';
import type { CheckedAttributes, TimeLogAttributes } from '../domain/attributes.js';
import { type CheckedValues, takeChecked, type TimeLogValues } from '../domain/time-log.js';
import { CreateTimeLogDto } from './create-time-log.dto.js';

/** Returns the member for attributes of the body of a log; undefined if the host has no schema for them. */
export function attributesMember(attributes: TimeLogAttributes): FurtherMember | undefined {
  if (!attributes.areKnown) return undefined;
  return { dto: CreateTimeLogDto, name: 'attributes', rule: (value) => attributes.check(value) };
}

/** Returns the values of a body, with its attributes as the schema has put them out when the body was checked. */
export function valuesOf(body: CreateTimeLogDto, verdict: MemberVerdict | undefined): CheckedValues {
  if (verdict === undefined) return takeChecked(body);
  const { input, output } = verdict as CheckedAttributes;
  return takeChecked({ ...(body as TimeLogValues), attributes: output }, input);
}
