import type { Caller } from '../../../libs/auth/src/index.js';
import { ALL_PROJECTS, type ProjectAccess, requireProject } from '../domain/project-access.js';
import type { TimeLogFilter } from '../domain/time-log.repository.js';
import type { TransactionHandle } from '../domain/transaction-handle.js';

/** On whose behalf something is done. */
export interface CallOptions {
  /** All projects unless given: the code of a host is trusted. */
  readonly access?: ProjectAccess | undefined;
  /** The caller, for hooks. Costly reads and changes run for the callers in rotation, by their ids. */
  readonly caller?: Partial<Caller> | undefined;
}

/** How a log is recorded, corrected or deleted. */
export interface RecordOptions extends CallOptions {
  /**
   * A transaction of the caller: the change is committed or rolled back with it, and shares no commit with others. Its
   * isolation level is READ COMMITTED, or it may fail where others change logs at the same time.
   */
  readonly manager?: TransactionHandle | undefined;
}

/** Returns the access of a call. */
export function accessOf({ access = ALL_PROJECTS }: CallOptions): ProjectAccess {
  return access;
}

/** Returns the access of a call that reads with this filter. Throws DomainError FORBIDDEN. */
export function accessTo({ projectId }: TimeLogFilter, options: CallOptions): ProjectAccess {
  const access = accessOf(options);
  if (projectId !== undefined) requireProject(access, projectId);
  return access;
}
