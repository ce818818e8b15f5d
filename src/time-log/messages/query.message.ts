import type { Type } from '@nestjs/common';
import { Allow } from 'class-validator';
import { isJsonObject, Rule, Omittable, StrictMessage } from '../../../libs/strict-request/src/index.js';
import type { ListTimeLogsDto } from '../wire/list-time-logs.dto.js';
import type { TotalTimeLogsDto } from '../../totals/index.js';

/** The data of `time-log.list.v1`; the guard has decided its token. */
export class ListTimeLogsMessage {
  @Allow()
  accessToken?: string;

  @Omittable()
  @Rule((value) => (isJsonObject(value) ? undefined : 'query must be an object'))
  query!: ListTimeLogsDto;
}

/** The data of `time-log.totals.v1`. */
export class TotalTimeLogsMessage extends ListTimeLogsMessage {
  declare query: TotalTimeLogsDto;
}

/** The validated data of a message with a query. */
export const StrictQueryMessage = (message: Type<object>, dto: Type<object>): ParameterDecorator =>
  StrictMessage({ message, part: 'query', dto, isOptional: true, prepare: asText });

/** A query as HTTP has it: `page` and `limit` as text. */
function asText(query: object): object {
  const given = Object.entries(query).map(([name, value]: [string, unknown]) => [
    name,
    (name === 'page' || name === 'limit') && typeof value === 'number' ? String(value) : value,
  ]);
  return Object.fromEntries(given) as object;
}
