import { IsOptional } from 'class-validator';
import { Rule, type FixedMembers } from '../../../libs/strict-request/src/index.js';
import { faultOf } from '../../../libs/errors/src/index.js';
import { idempotencyKeyFault } from '../domain/idempotency-key.js';
import {
  isoText,
  type AllTimeLogValues,
  type Attributes,
  createdAtOf,
  TIME_LOG_FIELDS as FIELDS,
  type TimeLogValues,
} from '../domain/time-log.js';

/** The body of a create: all values of a log. Error messages follow the order of these fields. */
export class CreateTimeLogDto implements AllTimeLogValues {
  @Rule(FIELDS.projectId.fault)
  projectId!: string;

  @Rule(FIELDS.duration.fault)
  duration!: number;

  @Rule(FIELDS.description.fault)
  description = '';

  @Rule(FIELDS.date.fault)
  date!: string;
}

/** The body of a correction. Without attributes it keeps those that are stored. */
export class CorrectTimeLogDto extends CreateTimeLogDto {}

/** Returns the members of a correction that are no values: a client that returns the log that it got sends them. */
export function fixedMembersOf(logId: string): FixedMembers {
  const id = logId.toLowerCase();
  const fault = (name: string, value: unknown) => faultOf(name, value, 'fixed', 'must be that of the log');
  return {
    id: (value) => (typeof value === 'string' && value.toLowerCase() === id ? undefined : fault('id', value)),
    createdAt: (value) => (value === isoText(createdAtOf(id)) ? undefined : fault('createdAt', value)),
  };
}

/** Returns the values of a body with its attributes, which are not part of it, as they were sent. */
export function valuesOf(body: CreateTimeLogDto, attributes: unknown): TimeLogValues {
  return attributes === undefined
    ? body
    : { ...(body as TimeLogValues), attributes: attributes as Attributes };
}

/** The headers of a create, in addition to those of every request. */
export class RecordTimeLogHeaders {
  @IsOptional()
  @Rule(idempotencyKeyFault)
  'Idempotency-Key'?: string;
}
