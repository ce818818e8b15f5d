import type { Delivery } from '../../events/consumers.js';
import { queryOnce } from './postgres-cluster.js';

/** What a consumer of the events finds, held against the table. */
export interface EventFinding {
  /** Stored logs without an event. */
  readonly missing: readonly string[];
  /** Events without a stored log, or of other values, or with an id of their own. */
  readonly invented: readonly string[];
  /** Events that came first before an earlier one of their project. */
  readonly disordered: readonly string[];
  readonly logs: number;
  /** How many events came again. */
  readonly repeats: number;
}

interface Row {
  readonly position: string;
  readonly id: string;
  readonly projectId: string;
  readonly duration: string;
  readonly description: string;
  readonly date: string;
}

/** Reads the table over a connection of its own, past the service. */
export async function auditEvents(url: string, deliveries: readonly Delivery[]): Promise<EventFinding> {
  const rows = await queryOnce<Row>(
    url,
    `select position, id, project_id as "projectId", duration, description, to_char(date, 'YYYY-MM-DD') as date
       from time_logs order by position, id`,
  );
  const places = new Map(rows.map((row, place) => [row.id, { row, place }]));
  const first = new Set<string>();
  const latest = new Map<string, number>();
  const [invented, disordered]: string[][] = [[], []];
  for (const { id, event } of deliveries) {
    const { data } = event;
    const found = places.get(data.id);
    if (!found || !isOf(found.row, id, event)) invented!.push(`${id} ${JSON.stringify(event)}`);
    if (!found || first.has(data.id)) continue;
    first.add(data.id);
    if (found.place < (latest.get(data.projectId) ?? -1)) disordered!.push(event.id);
    latest.set(data.projectId, found.place);
  }
  return {
    missing: rows.filter(({ id }) => !first.has(id)).map(({ id, description }) => `${id} ${description}`),
    invented: invented!,
    disordered: disordered!,
    logs: rows.length,
    repeats: deliveries.length - first.size,
  };
}

function isOf(row: Row, id: string | undefined, event: Delivery['event']): boolean {
  const { data } = event;
  return (
    'date' in data &&
    event.id === `${row.position}-${row.id}` &&
    id === event.id &&
    event.subject === row.projectId &&
    data.projectId === row.projectId &&
    data.duration === Number(row.duration) &&
    data.description === row.description &&
    data.date === row.date
  );
}
