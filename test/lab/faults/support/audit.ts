import type { AnsweredLog, Ledger } from './ledger.js';
import { queryOnce } from '../../../support/postgres-cluster.js';

type Row = Omit<AnsweredLog, 'duration' | 'createdAt'> & { readonly duration: string };

/** Compares the table, read without the service, with the answers to the clients. */
export async function audit(url: string, ledger: Ledger) {
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
    /** Acknowledged logs that are not in the table, or not as they were acknowledged. */
    lost: answered.filter((log) => !isStored(log, byDescription.get(log.description))).map(textOf),
    doubled: [...repeated, ...rows.filter((row) => byDescription.get(row.description) !== row)].map(textOf),
    /** Logs of a batch that is not stored as a whole. */
    parts: ledger.partsOf(new Set(byDescription.keys())),
    /** Rows that nobody asked for. */
    strange: rows.filter(({ description }) => !ledger.knows(description)).map(textOf),
    stored: rows.length,
  };
}

function isStored({ id, projectId, duration, date }: AnsweredLog, row: Row | undefined): boolean {
  if (row?.id !== id) return false;
  return row.projectId === projectId && Number(row.duration) === duration && row.date === date;
}

function textOf({ id, description }: Pick<Row, 'id' | 'description'>): string {
  return `${id} ${description}`;
}
