import { IsOptional } from 'class-validator';
import { type BatchShape, type CorrectionRules, Rule } from '../../../libs/strict-request/src/index.js';
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

/** The values of a log in a body. Error messages follow the order of these fields. */
export class TimeLogDto implements Omit<AllTimeLogValues, 'attributes'> {
  @Rule(FIELDS.projectId.fault)
  projectId!: string;

  @Rule(FIELDS.duration.fault)
  duration!: number;

  @Rule(FIELDS.description.fault)
  description = '';

  @Rule(FIELDS.date.fault)
  date!: string;

  /** Returns the attributes as they were sent; undefined if there are none. */
  declare attributes?: () => Attributes;
}

/** Returns the rules of a correction: a client that returns the log that it got sends members that are no values. */
export function correctionRulesOf(logId: string): CorrectionRules {
  const id = logId.toLowerCase();
  const fault = (name: string, value: unknown) => faultOf(name, value, 'fixed', 'must be that of the log');
  const fixed: CorrectionRules['fixed'] = {
    id: (value) => (typeof value === 'string' && value.toLowerCase() === id ? undefined : fault('id', value)),
    createdAt: (value) => (value === isoText(createdAtOf(id)) ? undefined : fault('createdAt', value)),
  };
  return { fixed, keepsAdded: true };
}

/** Returns the values of a body. */
export function valuesOf(body: TimeLogDto): TimeLogValues {
  // A copy is slower.
  if (body.attributes === undefined) return body as TimeLogDto & { attributes?: undefined };
  const { attributes, ...values } = body;
  return { ...values, attributes: attributes() };
}

/** The maximum number of logs in a batch. */
const MAX_LOGS = 1_000;

/** The body of a batch. */
export class TimeLogBatchDto {
  @Rule((value) => {
    const isArray = Array.isArray(value);
    if (isArray && value.length > 0 && value.length <= MAX_LOGS) return undefined;
    const [rule, params] = isArray ? ['length', { min: 1, max: MAX_LOGS }] : ['type', { type: 'array' }];
    return faultOf('timeLogs', value, rule, `must be an array of 1 to ${MAX_LOGS} time logs`, params);
  })
  timeLogs!: TimeLogDto[];
}

/** The form of a batch. */
export const BATCH_SHAPE: BatchShape = { batch: TimeLogBatchDto, list: 'timeLogs', dto: TimeLogDto };

/** The header of a create or a batch with a key. */
export class IdempotencyKeyHeader {
  @IsOptional()
  @Rule(idempotencyKeyFault)
  'Idempotency-Key'?: string;
}
