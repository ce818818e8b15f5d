import type { AnsweredLog, Ledger } from './ledger.js';
import { queryOnce } from '../../../support/postgres-cluster.js';

/** What an outside reader of the table finds, held against what the clients were told. */
export interface Finding {
  /** Acknowledged logs that are not in the table, or not as they were acknowledged. */
  readonly lost: readonly string[];
  /** Logs that are there more than once. */
  readonly doubled: readonly string[];
  /** Rows that nobody asked for. */
  readonly strange: readonly string[];
  /** Rows of the table. */
  readonly stored: number;
  /** Logs that are there although their client was answered 503 or not at all. */
  readonly storedUnanswered: number;
}

type Row = Omit<AnsweredLog, 'duration' | 'createdAt'> & { readonly duration: string };

/** Reads the table over a connection of its own, past the service. */
export async function audit(url: string, ledger: Ledger): Promise<Finding> {
  const rows = await queryOnce<Row>(
    url,
    `select id, project_id as "projectId", duration, description, to_char(date, 'YYYY-MM-DD') as date from time_logs`,
  );
  const byDescription = new Map(rows.map((row) => [row.description, row]));
  const answered = [...ledger.acknowledged.values()];
  const ids = new Set<string>();
  const repeated = [...rows, ...answered.filter(({ description }) => !byDescription.has(description))].filter(
    ({ id }) => ids.size === ids.add(id).size,
  );
  return {
    lost: answered.filter((log) => !isStored(log, byDescription.get(log.description))).map(textOf),
    doubled: [...repeated, ...rows.filter((row) => byDescription.get(row.description) !== row)].map(textOf),
    strange: rows.filter(({ description }) => !ledger.knows(description)).map(textOf),
    stored: rows.length,
    storedUnanswered: [...ledger.unknown.keys()].filter((description) => byDescription.has(description))
      .length,
  };
}

function isStored({ id, projectId, duration, date }: AnsweredLog, row: Row | undefined): boolean {
  if (row?.id !== id) return false;
  return row.projectId === projectId && Number(row.duration) === duration && row.date === date;
}

function textOf({ id, description }: Pick<Row, 'id' | 'description'>): string {
  return `${id} ${description}`;
}
