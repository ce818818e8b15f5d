import type { Type } from '@nestjs/common';
import { Allow } from 'class-validator';
import { faultOf } from '../../../libs/errors/src/index.js';
import { isJsonObject, Omittable, Rule, StrictMessage } from '../../../libs/strict-request/src/index.js';
import type { TotalTimeLogsDto } from '../../totals/index.js';
import { type CreateTimeLogDto, idempotencyKeyFault, type ListTimeLogsDto } from '../../time-log/index.js';

class AuthorizedMessage {
  /** The access token. The guard has already checked it. */
  @Allow()
  accessToken?: string;
}

/** The data of `time-log.record.v1`. */
export class RecordTimeLogMessage extends AuthorizedMessage {
  @Omittable()
  @Rule(idempotencyKeyFault)
  idempotencyKey?: string;

  @Rule((value) => objectFault('timeLog', value))
  timeLog!: CreateTimeLogDto;
}

/** The data of `time-log.list.v1`. */
export class ListTimeLogsMessage extends AuthorizedMessage {
  @Omittable()
  @Rule((value) => objectFault('query', value))
  query!: ListTimeLogsDto;
}

/** The data of `time-log.totals.v1`. */
export class TotalTimeLogsMessage extends ListTimeLogsMessage {
  declare query: TotalTimeLogsDto;
}

/** Injects the validated data of a message with a query. */
export const StrictQueryMessage = (message: Type<object>, dto: Type<object>): ParameterDecorator =>
  StrictMessage({ message, part: 'query', dto, isOptional: true });

function objectFault(name: string, value: unknown) {
  return isJsonObject(value)
    ? undefined
    : faultOf(name, value, 'type', 'must be an object', { type: 'object' });
}
