import { Allow } from 'class-validator';
import { isJsonObject, Rule, Omittable } from '../../../libs/strict-request/src/index.js';
import type { CreateTimeLogDto } from '../wire/create-time-log.dto.js';
import { idempotencyKeyFault } from '../domain/idempotency-key.js';

/** The data of `time-log.record.v1`; the guard has decided its token. */
export class RecordTimeLogMessage {
  @Allow()
  accessToken?: string;

  @Omittable()
  @Rule(idempotencyKeyFault)
  idempotencyKey?: string;

  @Rule((value) => (isJsonObject(value) ? undefined : 'timeLog must be an object'))
  timeLog!: CreateTimeLogDto;
}
