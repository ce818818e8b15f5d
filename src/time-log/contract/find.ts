import type { TimeLogPage, TimeLogRepository } from '../domain/time-log.repository.js';

/** What a repository finds, as a plain object: a page may be of any class. */
export async function find(
  repository: TimeLogRepository,
  ...asked: Parameters<TimeLogRepository['find']>
): Promise<TimeLogPage> {
  const { logs, total } = await repository.find(...asked);
  return { logs, total };
}
