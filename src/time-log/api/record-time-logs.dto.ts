import { faultOf } from '../../../libs/errors/src/index.js';
import { type BatchShape, Rule } from '../../../libs/strict-request/src/index.js';
import type { TimeLogValues } from '../domain/time-log.js';
import { CreateTimeLogDto, valuesOf } from './create-time-log.dto.js';

/** The maximum number of logs in a batch. */
const MAX_LOGS = 1_000;

/** The body of a batch. */
export class RecordTimeLogsDto {
  @Rule((value) => {
    const isArray = Array.isArray(value);
    if (isArray && value.length > 0 && value.length <= MAX_LOGS) return undefined;
    const [rule, params] = isArray ? ['length', { min: 1, max: MAX_LOGS }] : ['type', { type: 'array' }];
    return faultOf('timeLogs', value, rule, `must be an array of 1 to ${MAX_LOGS} time logs`, params);
  })
  timeLogs!: CreateTimeLogDto[];
}

/** The form of a batch. */
export const BATCH_SHAPE: BatchShape = { batch: RecordTimeLogsDto, list: 'timeLogs', dto: CreateTimeLogDto };

/** Returns the values of all logs of a batch, with the attributes of each. */
export function allValuesOf(
  { timeLogs }: RecordTimeLogsDto,
  attributes: readonly unknown[],
): TimeLogValues[] {
  return timeLogs.map((log, index) => valuesOf(log, attributes[index]));
}
