import { Allow } from 'class-validator';
import { isJsonObject, Obeys, Omittable } from '../../../libs/strict-request/src/index.js';
import type { CreateTimeLogDto } from '../wire/create-time-log.dto.js';
import { idempotencyKeyFault } from '../domain/idempotency-key.js';

/** The data of `time-log.record.v1`; the guard has decided its token. */
export class RecordTimeLogMessage {
  @Allow()
  accessToken?: string;

  @Omittable()
  @Obeys(idempotencyKeyFault)
  idempotencyKey?: string;

  @Obeys((value) => (isJsonObject(value) ? undefined : 'timeLog must be an object'))
  timeLog!: CreateTimeLogDto;
}
