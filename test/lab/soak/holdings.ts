import { queryOnce } from '../../support/postgres-cluster.js';
import { filesOf, memoryOf } from '../faults/support/process-usage.js';

/** What a service holds at a moment. */
export interface Holdings {
  /** Megabytes. */
  readonly memory: number;
  /** Files and sockets. */
  readonly files: number;
  /** To its database. */
  readonly connections: number;
}

/** The part of the memory that may come on top of what it was: the heap is not swept to its end at any given moment. */
const MOST_GROWTH = 0.15;

export async function lookAt(pid: number, databaseUrl: string): Promise<Holdings> {
  const connections = await queryOnce(
    databaseUrl,
    `select 1 from pg_stat_activity where application_name = 'time-logs'`,
  );
  return { memory: await memoryOf(pid), files: await filesOf(pid), connections: connections.length };
}

/** Whether a service at rest holds no more than it did before. */
export function isSettled(before: Holdings, after: Holdings): boolean {
  return (
    after.memory <= before.memory * (1 + MOST_GROWTH) &&
    after.files <= before.files &&
    after.connections <= before.connections
  );
}

export function textOf({ memory, files, connections }: Holdings): string {
  return `${memory} MB, ${files} files, ${connections} connections`;
}
