import { type Caller, isAttributeValue } from '../../../libs/auth/src/index.js';
import { DomainError } from '../../../libs/errors/src/domain-error.js';
import type { AttributeType, TimeLogAttributes } from '../domain/attributes.js';
import {
  ATTRIBUTE_NOT_ALLOWED,
  haveValues,
  PROJECT_NOT_ALLOWED,
  type TimeLogAccess,
} from '../domain/time-log-access.js';
import { type PageInput, pageOf, type PageRequest } from '../domain/page-request.js';
import { filterOf, type TimeLogFilterInput } from '../domain/time-log-filter.js';
import type {
  TimeLogFilter,
  TimeLogStore,
  TimeLogWrites,
  TransactionHandle,
} from '../domain/time-log.repository.js';
import type { AllTimeLogValues } from '../domain/time-log.js';

/** The options of every method. */
export interface CallOptions {
  /**
   * The caller, also for hooks. It reads and changes only logs of the projects and with the attributes to which it is
   * bound; by default all, since the code of a host is trusted. Its scopes are not checked. While others wait, the
   * limits of costly reads and changes let an id use a quarter.
   */
  readonly caller?: Partial<Caller> | undefined;
}

/** The options for a change, or for a read in a transaction. */
export interface RecordOptions extends CallOptions {
  /**
   * A transaction of the caller, in which the log is changed or read. It should be READ COMMITTED: with other
   * isolation levels it may fail if others change logs at the same time.
   */
  readonly manager?: TransactionHandle | undefined;
  /**
   * The time in milliseconds that `record`, `recordOnce`, `recordAll` and `recordAllOnce` wait in the write queue, even
   * if it is full. The statement of a batch and a transaction with hooks may take the rest of it. By default a full
   * queue is an error, and the wait is limited by `limits.deadline`.
   */
  readonly deadline?: number | undefined;
}

/** The options for correcting or deleting a log. */
export interface ChangeOptions extends RecordOptions {
  /** The entity tags of the versions that the change may replace; undefined: any. */
  readonly ifMatch?: readonly string[] | undefined;
  /** The entity tags of the versions that the change must not replace; `*` is each. */
  readonly ifNoneMatch?: readonly string[] | undefined;
}

/** The message for a token whose attribute the schema no longer declares as a filter. */
const ATTRIBUTE_NOT_DECLARED = 'the token is bound to an attribute that this service does not filter by';

/** Throws DomainError FORBIDDEN if a call is bound to attributes that logs have no filter of the same type for. */
export function requireDeclared({ caller }: CallOptions, known: TimeLogAttributes): void {
  const bound = caller?.attributes;
  if (!bound || Object.entries(bound).every(([name, value]) => isOfType(value, known.filters.get(name))))
    return;
  throw new DomainError('FORBIDDEN', ATTRIBUTE_NOT_DECLARED);
}

function isOfType(value: unknown, type: AttributeType | undefined): boolean {
  return isAttributeValue(value) && typeof value === (type === 'integer' ? 'number' : type);
}

/** Returns the access of a call, with ids in lower case. Throws DomainError FORBIDDEN if it excludes a project. */
export function accessTo(
  projectIds: readonly string[] | undefined,
  { caller: { projects: bound, attributes } = {} }: CallOptions,
): TimeLogAccess {
  // A pipe of a host may turn the array into an object when it rebuilds the caller of a message.
  const projects = bound && Object.values(bound).map((id) => id.toLowerCase());
  if (projects && projectIds?.some((id) => !projects.includes(id)))
    throw new DomainError('FORBIDDEN', PROJECT_NOT_ALLOWED);
  return { projects, attributes };
}

/**
 * Returns the access of a change. Throws DomainError FORBIDDEN if it excludes a log with new values. Without attributes
 * a correction keeps those that are stored, which the statement compares.
 */
export function requireAccess(
  logs: readonly Pick<AllTimeLogValues, 'projectId' | 'attributes'>[],
  options: CallOptions,
): TimeLogAccess {
  const access = accessTo(
    logs.map(({ projectId }) => projectId),
    options,
  );
  const { attributes: bound } = access;
  if (!bound || logs.every(({ attributes }) => !attributes || haveValues(attributes, bound))) return access;
  throw new DomainError('FORBIDDEN', ATTRIBUTE_NOT_ALLOWED);
}

/** Returns the arguments of a read for a port. Throws DomainError VALIDATION_ERROR, and like `accessTo`. */
export function readArguments(
  filter: TimeLogFilterInput | undefined,
  page: PageInput | undefined,
  options: CallOptions,
  attributes: TimeLogAttributes,
): [TimeLogFilter, PageRequest, TimeLogAccess, caller: string | undefined] {
  requireDeclared(options, attributes);
  const matching = filterOf(filter, attributes);
  return [matching, pageOf(page), accessTo(matching.projectIds, options), options.caller?.id];
}

/**
 * Wraps the methods that make the changes of a call, such as with the hooks of a host. `record` then returns the logs
 * with the values that a hook has replaced.
 */
export type WrapWrites = (store: TimeLogStore, call: RecordOptions) => TimeLogWrites;

/** The injection token of an optional WrapWrites. */
export const WRAP_WRITES = Symbol.for('time-logs.WRAP_WRITES');
