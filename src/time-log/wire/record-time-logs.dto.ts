import { type BatchShape, type RequestState, Rule } from '../../../libs/strict-request/src/index.js';
import { batchError, faultsAt } from '../domain/time-log-batch.js';
import type { TimeLogValues } from '../domain/time-log.js';
import { CreateTimeLogDto, valuesOf } from './create-time-log.dto.js';

/** The maximum number of logs in a batch. */
const MAX_LOGS = 1_000;

/** The body of a batch. */
export class RecordTimeLogsDto {
  @Rule((value) =>
    Array.isArray(value) && value.length > 0 && value.length <= MAX_LOGS
      ? undefined
      : `timeLogs must be an array of 1 to ${MAX_LOGS} time logs`,
  )
  timeLogs!: CreateTimeLogDto[];
}

/** The form of a batch. */
export const BATCH_SHAPE: BatchShape = {
  batch: RecordTimeLogsDto,
  list: 'timeLogs',
  dto: CreateTimeLogDto,
  faultsAt,
  errorOf: batchError,
};

/** Returns the values of all logs of a batch, like `valuesOf`. */
export function allValuesOf(
  { timeLogs }: RecordTimeLogsDto,
  { checkedItems }: RequestState,
): TimeLogValues[] {
  // A pipe of a host may turn the array into an object when it rebuilds the body.
  return Object.values(timeLogs).map((log, index) => valuesOf(log, checkedItems[index]!));
}
