import type { Caller } from '../../../libs/auth/src/index.js';
import { DomainError, faultOf, throwFaults } from '../../../libs/errors/src/domain-error.js';
import { type AttributeType, isObject, type TimeLogAttributes } from '../domain/attributes.js';
import {
  ALL_PROJECTS,
  ATTRIBUTE_NOT_ALLOWED,
  attributesIn,
  type BoundAccess,
  haveValues,
  PROJECT_NOT_ALLOWED,
  projectsIn,
  type TimeLogAccess,
} from '../domain/time-log-access.js';
import { type PageInput, pageOf, type PageRequest } from '../domain/page-request.js';
import { filterOf, type TimeLogFilterInput } from '../domain/time-log-filter.js';
import type { TimeLogFilter, TimeLogWrites } from '../domain/time-log.repository.js';
import { isPlainObject, membersFault, projectIdFault, textFault } from '../domain/time-log.rules.js';
import type { AllTimeLogValues, TimeLog } from '../domain/time-log.js';
import type { TransactionHandle } from '../domain/transaction-handle.js';

/** The caller of a method, and its access. */
export interface CallOptions {
  /** All projects by default, since the code of a host is trusted. */
  readonly access?: TimeLogAccess | undefined;
  /** The caller, for hooks. While others wait, the limits of costly reads and changes let an id use a quarter. */
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

/** Marks options that need no check. */
const CHECKED = Symbol('checked options');

type Rule = readonly [isValid: (value: never) => boolean, text: string, type: string];

const ENTITY_TAGS: Rule = [
  (value) => Array.isArray(value) && [...value].every((tag) => typeof tag === 'string'),
  'must be an array of entity tags',
  'array',
];

/** The rules of all options that are not undefined. A service checks `projectIds` itself. */
const RULES: Readonly<Record<string, Rule>> = {
  access: [
    (value: TimeLogAccess) => areProjects(value) || (isBoundAccess(value) && areProjects(value.projects)),
    `must be '${ALL_PROJECTS}' or an array of UUIDs, or an object with these as projects, and with attributes`,
    'array',
  ],
  caller: [
    (value: Partial<Caller>) => isObject(value) && ['string', 'undefined'].includes(typeof value.id),
    'must be an object, with a string as id if it has one',
    'object',
  ],
  manager: [isObject, 'must be the EntityManager of a transaction', 'object'],
  deadline: [
    (value) => typeof value === 'number' && !isNaN(value),
    'must be a number of milliseconds',
    'number',
  ],
  ifMatch: ENTITY_TAGS,
  ifNoneMatch: ENTITY_TAGS,
  signal: [
    (value: AbortSignal) => isObject(value) && typeof value.throwIfAborted === 'function',
    'must be an AbortSignal',
    'object',
  ],
  projectIds: [() => true, '', ''],
};
const OPTION_NAMES = Object.keys(RULES);

/** The message for a token whose attribute the schema no longer declares as a filter. */
const ATTRIBUTE_NOT_DECLARED = 'the token is bound to an attribute that this service does not filter by';

/**
 * Checks the options of a call from the code of a host: those of requests are checked already. Returns them with an
 * access in lower case. Throws DomainError VALIDATION_ERROR, or FORBIDDEN if it is bound to attributes that `known`
 * has no filter of the same type for.
 */
export function checkedOptions<Options extends CallOptions>(
  options: Options,
  known?: TimeLogAttributes,
): Options {
  const checked = checkedForm(options);
  const bound = known && checked.access && attributesIn(checked.access);
  if (!bound || Object.entries(bound).every(([name, value]) => isOfType(value, known.filters.get(name))))
    return checked;
  throw new DomainError('FORBIDDEN', ATTRIBUTE_NOT_DECLARED);
}

function isOfType(value: unknown, type: AttributeType | undefined): boolean {
  return typeof value === (type === 'integer' ? 'number' : type);
}

function checkedForm<Options extends CallOptions>(options: Options): Options {
  if ((options as { readonly [CHECKED]?: true } | null)?.[CHECKED]) return options;
  throwFaults([membersFault('options', options, OPTION_NAMES)]);
  const faults = Object.entries(options).map(([name, value]: [string, unknown]) => {
    const [isValid, text, type] = RULES[name]!;
    if (value === undefined || isValid(value as never)) return undefined;
    return faultOf(`options.${name}`, value, 'type', text, { type });
  });
  throwFaults(faults);
  const { access } = options;
  if (access === undefined) return { ...options, [CHECKED]: true };
  const ids = projectsIn(access);
  const projects = ids === ALL_PROJECTS ? ids : ids.map((id) => id.toLowerCase());
  const attributes = attributesIn(access);
  return { ...options, access: attributes ? { projects, attributes } : projects, [CHECKED]: true };
}

function areProjects(value: unknown): boolean {
  // A copy has no holes, which `every` would skip.
  return value === ALL_PROJECTS || (Array.isArray(value) && ![...(value as unknown[])].some(projectIdFault));
}

function isBoundAccess(value: unknown): value is BoundAccess {
  const { attributes, ...more } = Object(value) as Partial<BoundAccess>;
  if (!isPlainObject(attributes) || Object.keys(more).join() !== 'projects') return false;
  return Object.values(attributes).every((one) => {
    if (typeof one === 'string') return textFault(one) === undefined;
    // A larger number may be another one, rounded. In JSON, NaN would be null, and bind to logs without a value.
    return typeof one === 'boolean' || (typeof one === 'number' && Math.abs(one) <= Number.MAX_SAFE_INTEGER);
  });
}

/** Throws DomainError VALIDATION_ERROR unless the code of a host passes a function. */
export function requireFunction(name: string, value: unknown): void {
  if (typeof value === 'function') return;
  throwFaults([faultOf(name, value, 'type', 'must be a function', { type: 'function' })]);
}

/** Returns the access of a call. Throws DomainError FORBIDDEN if it excludes a project. Ids are in lower case. */
export function accessTo(
  projectIds: readonly string[] | undefined,
  { access = ALL_PROJECTS }: CallOptions,
): TimeLogAccess {
  const projects = projectsIn(access);
  if (projectIds === undefined || projects === ALL_PROJECTS) return access;
  if (projectIds.every((id) => projects.includes(id))) return access;
  throw new DomainError('FORBIDDEN', PROJECT_NOT_ALLOWED);
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
  const bound = attributesIn(access);
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
  const call = checkedOptions(options, attributes);
  const matching = filterOf(filter, attributes);
  return [matching, pageOf(page), accessTo(matching.projectIds, call), call.caller?.id];
}

/** Returns the options for a caller. It may access all logs unless it is bound to projects or attributes. */
export function callOptionsOf(caller: Caller | undefined): CallOptions {
  const { projects: ids, attributes } = caller ?? {};
  // A pipe of a host may turn the array into an object when it rebuilds the caller of a message.
  const projects = ids === undefined ? ALL_PROJECTS : Object.values(ids);
  const access: TimeLogAccess = attributes === undefined ? projects : { projects, attributes };
  const options = { access, caller, [CHECKED]: true };
  return options;
}

/** The methods that make the changes of a call. Those that record resolve with a log whose values they replaced. */
export type CallWrites = Pick<TimeLogWrites, 'correct' | 'delete' | 'get'> & {
  add(...log: Parameters<TimeLogWrites['add']>): Promise<TimeLog> | Promise<void>;
  addOnce(...log: Parameters<TimeLogWrites['addOnce']>): Promise<TimeLog | string>;
  addAll(...logs: Parameters<TimeLogWrites['addAll']>): Promise<readonly TimeLog[]> | Promise<void>;
  addAllOnce(...logs: Parameters<TimeLogWrites['addAllOnce']>): Promise<readonly (TimeLog | string)[]>;
};

/** Wraps the methods that make the changes of a call, such as with the hooks of the host kit. */
export type WrapWrites = (writes: TimeLogWrites, call: RecordOptions) => CallWrites;

/** The injection token of an optional WrapWrites. */
export const WRAP_WRITES = Symbol.for('time-logs.WRAP_WRITES');
