import { IsOptional } from 'class-validator';
import { Rule } from '../../../libs/strict-request/src/index.js';
import { idempotencyKeyFault } from '../domain/idempotency-key.js';

/** The headers of a create, in addition to those of every request. */
export class RecordTimeLogHeaders {
  @IsOptional()
  @Rule(idempotencyKeyFault)
  'Idempotency-Key'?: string;
}
