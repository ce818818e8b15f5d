import type { Delivery } from '../../brokers/consumers.js';
import { queryOnce } from '../../../support/postgres-cluster.js';

/** A log as it is, or its deletion, which has no values. */
interface Row {
  readonly position: string;
  readonly id: string;
  readonly projectId: string;
  readonly duration: string | null;
  readonly description: string | null;
  readonly date: string | null;
}

/** Compares the events of a consumer with the tables, read without the service. */
export async function auditEvents(url: string, deliveries: Iterable<Delivery>) {
  const rows = await queryOnce<Row>(
    url,
    `select position, id, project_id as "projectId", duration, description, to_char(date, 'YYYY-MM-DD') as date
       from time_logs
     union all
     select position, id, project_id, null, null, null from time_log_deletions where project_id is not null`,
  );
  const rowOf = new Map(rows.map((row) => [row.id, row]));
  const seen = new Set<string>();
  const latest = new Map<string, string>();
  /** Events of no stored log or of other values, and events that came before an earlier one of their project. */
  const [invented, disordered]: [string[], string[]] = [[], []];
  /** Events that came again, and those of what a log was before its last change, of which only the id is looked at. */
  let [repeats, outdated] = [0, 0];
  for (const { id, event } of deliveries) {
    const row = rowOf.get(event.data.id);
    const isOutdated = row !== undefined && id === event.id && isBefore(event.id, eventIdOf(row));
    if (!isOutdated && !(row && isOf(row, id, event))) invented.push(`${id} ${JSON.stringify(event)}`);
    if (seen.has(event.id)) {
      repeats++;
      continue;
    }
    seen.add(event.id);
    if (isOutdated) outdated++;
    if (isBefore(event.id, latest.get(event.subject) ?? event.id)) disordered.push(event.id);
    latest.set(event.subject, event.id);
  }
  const untold = rows.filter((row) => !seen.has(eventIdOf(row)));
  const missing = untold.map(({ id, description }) => `${id} ${description ?? 'deleted'}`);
  return { missing, invented, disordered, logs: rows.length, repeats, outdated };
}

const eventIdOf = ({ position, id }: Row) => `${position}-${id}`;

/** Whether an event has an earlier place than another one: a smaller position, or the same and a smaller id. */
function isBefore(one: string, other: string): boolean {
  const [[position, id], [otherPosition, otherId]] = [one, other].map((eventId) => {
    const end = eventId.indexOf('-');
    return [BigInt(eventId.slice(0, end)), eventId.slice(end)] as const;
  }) as [readonly [bigint, string], readonly [bigint, string]];
  return position === otherPosition ? id < otherId : position < otherPosition;
}

function isOf(row: Row, id: string | undefined, event: Delivery['event']): boolean {
  const { data } = event;
  const isItsEvent = event.id === eventIdOf(row) && id === event.id && event.subject === row.projectId;
  if (row.duration === null) return isItsEvent && event.type === 'time-log.deleted';
  return (
    isItsEvent &&
    'date' in data &&
    data.projectId === row.projectId &&
    data.duration === Number(row.duration) &&
    data.description === row.description &&
    data.date === row.date
  );
}
