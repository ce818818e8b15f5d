import { IsOptional } from 'class-validator';
import { Obeys } from '../../../libs/strict-request/src/index.js';
import { idempotencyKeyFault } from '../domain/idempotency-key.js';

/** The headers that a create takes beside those of every request. */
export class RecordTimeLogHeaders {
  @IsOptional()
  @Obeys(idempotencyKeyFault)
  'Idempotency-Key'?: string;
}
