import type { Caller } from '../../../libs/auth/src/index.js';
import { ALL_PROJECTS, type ProjectAccess, requireProject } from '../domain/project-access.js';
import type { TimeLogFilter } from '../domain/time-log.repository.js';
import type { TransactionHandle } from '../domain/transaction-handle.js';

/** The caller of a method, and its access. */
export interface CallOptions {
  /** All projects by default, since the code of a host is trusted. */
  readonly access?: ProjectAccess | undefined;
  /** The caller, for hooks. Costly reads and changes serve callers in rotation, by id. */
  readonly caller?: Partial<Caller> | undefined;
}

/** The options for recording, correcting or deleting a log. */
export interface RecordOptions extends CallOptions {
  /**
   * A transaction of the caller, which the change becomes part of. It should be READ COMMITTED: with other
   * isolation levels it may fail if others change logs at the same time.
   */
  readonly manager?: TransactionHandle | undefined;
}

/** Returns the access of a call. */
export function accessOf({ access = ALL_PROJECTS }: CallOptions): ProjectAccess {
  return access;
}

/** Returns the access of a call. Throws DomainError FORBIDDEN if it excludes the project of the filter. */
export function accessTo({ projectId }: TimeLogFilter, options: CallOptions): ProjectAccess {
  const access = accessOf(options);
  if (projectId !== undefined) requireProject(access, projectId);
  return access;
}

/** Returns the options for a caller. It may access all projects unless it is bound to some. */
export function callOptionsOf(caller: Caller | undefined): CallOptions {
  const projects = caller?.projects;
  // A pipe of a host may turn the array into an object when it rebuilds the caller of a message.
  return { access: projects === undefined ? ALL_PROJECTS : Object.values(projects), caller };
}
