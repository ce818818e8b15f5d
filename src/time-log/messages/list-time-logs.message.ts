import { Allow } from 'class-validator';
import { isJsonObject, Obeys, Omittable } from '../../../libs/strict-request/src/index.js';
import type { ListTimeLogsDto } from '../wire/list-time-logs.dto.js';

/** The data of `time-log.list.v1`; the guard has decided its token. */
export class ListTimeLogsMessage {
  @Allow()
  accessToken?: string;

  @Omittable()
  @Obeys((value) => (isJsonObject(value) ? undefined : 'query must be an object'))
  query!: ListTimeLogsDto;
}

/** A query as HTTP has it: `page` and `limit` as text. */
export function asText(query: object): object {
  const given = Object.entries(query).map(([name, value]: [string, unknown]) => [
    name,
    (name === 'page' || name === 'limit') && typeof value === 'number' ? String(value) : value,
  ]);
  return Object.fromEntries(given) as object;
}
