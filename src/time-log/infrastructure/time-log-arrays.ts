import type { TimeLog } from '../domain/time-log.js';

/** The parameters of a statement that writes logs: `$1` to `$5`, a column each, for `unnest`. */
export const TIME_LOG_ARRAYS = '$1::uuid[], $2::uuid[], $3::numeric[], $4::text[], $5::date[]';

/** The values of those parameters. */
export function timeLogArrays(logs: readonly TimeLog[]): readonly (readonly string[])[] {
  return [
    logs.map(({ id }) => id),
    logs.map(({ projectId }) => projectId),
    logs.map(({ duration }) => String(duration)),
    logs.map(({ description }) => description),
    logs.map(({ date }) => date),
  ];
}
