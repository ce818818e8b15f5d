import { type Caller, isAttributeValue } from '../../../libs/auth/src/index.js';
import { DomainError } from '../../../libs/errors/src/domain-error.js';
import type { AttributeRules, AttributeType, AttributeValues } from '../domain/attribute-rules.js';
import {
  filterOf,
  type PageInput,
  pageOf,
  type PageRequest,
  type TimeLogAccess,
  type TimeLogFilter,
  type TimeLogFilterInput,
} from '../domain/time-log-query.js';
import type { AllTimeLogValues, Attributes } from '../domain/time-log.js';

/** The options of every method. */
export interface CallOptions {
  /**
   * The caller, also for hooks. It reads and changes only logs of the projects and with the attributes to which it is
   * bound; by default all, since the code of a host is trusted. Its scopes are not checked. While others wait, the
   * limits of costly reads and changes let an id use a quarter.
   */
  readonly caller?: Partial<Caller> | undefined;
}

/** The messages for a caller that is bound to other projects or attributes. */
const PROJECT_NOT_ALLOWED = 'the token does not allow this project';
const ATTRIBUTE_NOT_ALLOWED = 'the token does not allow this attribute';

/** The message for a token whose attribute the schema no longer declares as a filter. */
const ATTRIBUTE_NOT_DECLARED = 'the token is bound to an attribute that this service does not filter by';

function isOfType(value: unknown, type: AttributeType | undefined): boolean {
  return isAttributeValue(value) && typeof value === (type === 'integer' ? 'number' : type);
}

/**
 * Returns the access of a call, with ids in lower case. Throws DomainError FORBIDDEN if it excludes a project, or is
 * bound to attributes that logs have no filter of the same type for.
 */
export function accessTo(
  projectIds: readonly string[] | undefined,
  { caller: { projects: bound, attributes } = {} }: CallOptions,
  { filters }: AttributeRules,
): TimeLogAccess {
  // Not `?.`: null, which a host may have read from its database, must not mean all logs.
  const isDeclared = ([name, value]: [string, unknown]) => isOfType(value, filters.get(name));
  if (attributes !== undefined && !Object.entries(attributes).every(isDeclared))
    throw new DomainError('FORBIDDEN', ATTRIBUTE_NOT_DECLARED);
  const projects = bound === undefined ? undefined : bound.map((id) => id.toLowerCase());
  if (projects && projectIds?.some((id) => !projects.includes(id)))
    throw new DomainError('FORBIDDEN', PROJECT_NOT_ALLOWED);
  return { projects, attributes };
}

/**
 * Returns the access of a change. Throws like `accessTo`, also if it excludes a log with new values. Without attributes
 * a correction keeps those that are stored, which the statement compares.
 */
export function requireAccess(
  logs: readonly Pick<AllTimeLogValues, 'projectId' | 'attributes'>[],
  options: CallOptions,
  rules: AttributeRules,
): TimeLogAccess {
  const projectIds = logs.map(({ projectId }) => projectId);
  const access = accessTo(projectIds, options, rules);
  const { attributes: bound } = access;
  if (!bound || logs.every(({ attributes }) => !attributes || haveValues(attributes, bound))) return access;
  throw new DomainError('FORBIDDEN', ATTRIBUTE_NOT_ALLOWED);
}

/** Returns the arguments of a read for a port. Throws DomainError VALIDATION_ERROR, and like `accessTo`. */
export function readArguments(
  filter: TimeLogFilterInput | undefined,
  page: PageInput | undefined,
  options: CallOptions,
  rules: AttributeRules,
): [TimeLogFilter, PageRequest, TimeLogAccess, callerId: string | undefined] {
  const matching = filterOf(filter, rules);
  return [matching, pageOf(page), accessTo(matching.projectIds, options, rules), options.caller?.id];
}

/** Returns whether attributes have all of these values. */
export function haveValues(attributes: Attributes | undefined, values: AttributeValues = {}): boolean {
  return Object.entries(values).every(
    ([name, value]) => attributes && Object.hasOwn(attributes, name) && attributes[name] === value,
  );
}
