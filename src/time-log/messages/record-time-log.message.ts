import { Allow } from 'class-validator';
import { Obeys, Omittable } from '../../../libs/strict-request/src/index.js';
import type { CreateTimeLogDto } from '../wire/create-time-log.dto.js';
import { idempotencyKeyFault } from '../domain/idempotency-key.js';

/** The data of `time-log.record.v1`; the guard has decided its token. */
export class RecordTimeLogMessage {
  @Allow()
  accessToken?: string;

  @Omittable()
  @Obeys(idempotencyKeyFault)
  idempotencyKey?: string;

  @Obeys((value) => (isObject(value) ? undefined : 'timeLog must be an object'))
  timeLog!: CreateTimeLogDto;
}

/** True for what JSON calls an object. */
export function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
