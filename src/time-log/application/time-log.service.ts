import { Inject, Injectable, Optional } from '@nestjs/common';
import { isBound } from '../../../libs/auth/src/index.js';
import { batchError, DomainError, type Fault, faultsAt } from '../../../libs/errors/src/domain-error.js';
import { AttributeRules } from '../domain/attribute-rules.js';
import {
  filterOf,
  MAX_PAGE_LIMIT,
  type PageInput,
  type TimeLogAccess,
  type TimeLogFilterInput,
} from '../domain/time-log-query.js';
import {
  TIME_LOG_CHANGED,
  TimeLogChangedError,
  type TimeLogPage,
  TimeLogRepository,
  type TimeLogStore,
  type TimeLogWrites,
  VERSION_EXCLUDED,
} from '../domain/time-log.repository.js';
import { ANY_VERSION, fingerprintOf, fingerprintOfAll, isVersionIn } from '../domain/fingerprints.js';
import { type IdempotencyKey, type RequestKey, requireIdempotencyKey } from '../domain/idempotency-key.js';
import { TimeLogIds } from '../domain/time-log-ids.js';
import type { TimeLogItems } from '../domain/time-log-item.js';
import { logIdOf } from '../domain/time-log.rules.js';
import {
  type Attributes,
  type ConvertedAttributes,
  normalizedValues,
  TimeLog,
  type TimeLogValues,
} from '../domain/time-log.js';
import { accessTo, type CallOptions, readArguments, requireAccess } from './access.js';
import { type ChangeOptions, type RecordOptions, WRAP_WRITES, type WrapWrites } from './change-options.js';

/** A log that is to be stored, and its values before a schema converted them, which count for a key. */
interface NewLog {
  readonly log: TimeLog;
  readonly input: TimeLogValues;
}

/** The maximum number of retries of a change whose log has changed meanwhile. */
const MAX_RETRIES = 5;

/**
 * The use cases of time logs, for HTTP, messages and the code of a host. Naming a project outside the access of
 * the call throws DomainError FORBIDDEN; a log outside it counts as missing. Changes also throw what `wrap` throws.
 */
@Injectable()
export class TimeLogService<A extends Attributes = Attributes, Sent extends Attributes = A> {
  constructor(
    private readonly repository: TimeLogRepository,
    private readonly ids: TimeLogIds,
    @Optional() @Inject(WRAP_WRITES) private readonly wrap: WrapWrites = (store) => store,
    @Optional() private readonly attributeRules: AttributeRules = new AttributeRules(),
  ) {}

  /**
   * Records a log. Resolves when it is durable or, with `manager`, when it is part of the transaction. Throws
   * DomainError VALIDATION_ERROR, FORBIDDEN or SERVICE_UNAVAILABLE.
   */
  async record(values: TimeLogValues<Sent>, options: RecordOptions = {}): Promise<TimeLog<A>> {
    const created = await this.newLog(values, options);
    const { logs } = await this.store([created], options);
    return logs[0] as TimeLog<A>;
  }

  /**
   * Records a log, unless the key was used before: then it returns the log as it was recorded with the key,
   * even if it has changed since. Resolves like `record`. Throws like `record`, also for an invalid key, and
   * DomainError IDEMPOTENCY_KEY_REUSED if the key was used with other values.
   */
  async recordOnce(
    values: TimeLogValues<Sent>,
    key: IdempotencyKey,
    options: RecordOptions = {},
  ): Promise<{ readonly log: TimeLog<A>; readonly isReplay: boolean }> {
    requireIdempotencyKey(key);
    const created = await this.newLog(values, options);
    const fingerprint = fingerprintOf(created.input);
    const { logs, isReplay } = await this.store([created], options, { ...key, fingerprint });
    return { log: logs[0] as TimeLog<A>, isReplay };
  }

  /**
   * Records all logs or none, in one transaction, and returns them in order. Resolves and throws like `record`.
   * The error names the place of invalid values.
   */
  async recordAll(
    values: readonly TimeLogValues<Sent>[],
    options: RecordOptions = {},
  ): Promise<TimeLog<A>[]> {
    const { logs } = await this.store(await this.newLogs(values, options), options);
    return [...logs] as TimeLog<A>[];
  }

  /** Does for `recordAll` what `recordOnce` does for `record`. The key belongs to the whole batch, in this order. */
  async recordAllOnce(
    values: readonly TimeLogValues<Sent>[],
    key: IdempotencyKey,
    options: RecordOptions = {},
  ): Promise<{ readonly logs: readonly TimeLog<A>[]; readonly isReplay: boolean }> {
    requireIdempotencyKey(key);
    const created = await this.newLogs(values, options);
    const fingerprint = fingerprintOfAll(created.map(({ input }) => input));
    const recorded = await this.store(created, options, { ...key, fingerprint });
    return recorded as { readonly logs: readonly TimeLog<A>[]; readonly isReplay: boolean };
  }

  /**
   * Replaces all values of the log with an id; a missing description becomes empty, and missing attributes stay. `id`
   * and `createdAt` stay. Resolves like `record`, also if nothing changes. Throws like `record`, and DomainError
   * NOT_FOUND, or PRECONDITION_FAILED if the log has none of the versions in `ifMatch`, or one of `ifNoneMatch`.
   */
  async correct(id: string, values: TimeLogValues<Sent>, options: ChangeOptions = {}): Promise<TimeLog<A>> {
    const attributes = await this.converted(values, undefined, options);
    const log = TimeLog.of(values, logIdOf(id), attributes);
    const access = requireAccess([log], options, this.attributeRules);
    return this.changeIfVersionAllowed(log.id, options, (expected) => {
      const output = log.attributes ?? expected?.attributes;
      return this.replace(TimeLog.of(values, log.id, { ...attributes, output }), expected, access, options);
    });
  }

  /**
   * Replaces all values of the log with this id with those that `change` returns for the current log. Attributes are
   * not checked if `change` returns them as they are, and removed if it returns none. If the log changes meanwhile,
   * `change` is called again, up to 5 times. Resolves and throws like `correct`, and throws what `change` throws.
   */
  async patch(
    id: string,
    change: (log: TimeLog<A>) => TimeLogValues<A | Sent> | Promise<TimeLogValues<A | Sent>>,
    options: ChangeOptions = {},
  ): Promise<TimeLog<A>> {
    return this.readThenChange(id, options, async (log) => {
      const values = await change(log);
      const attributes = await this.converted(values, log.attributes, options);
      const changed = TimeLog.of(values, log.id, attributes);
      const access = requireAccess([changed], options, this.attributeRules);
      return () => this.replace(changed, log, access, options);
    });
  }

  /**
   * Deletes the log with an id. Resolves like `record`. Throws DomainError VALIDATION_ERROR, NOT_FOUND,
   * SERVICE_UNAVAILABLE, PRECONDITION_FAILED, or CONFLICT if tables of a host refer to it.
   */
  async delete(id: string, options: ChangeOptions = {}): Promise<void> {
    const access = accessTo(undefined, options, this.attributeRules);
    await this.changeIfVersionAllowed(id, options, async (expected) => {
      const writes = this.writesOf(options);
      const deleted = await writes.delete(logIdOf(id), access, options.caller?.id, expected);
      if (deleted === undefined) throw notFound();
    });
  }

  /**
   * Returns the log with an id, in upper or lower case. Throws DomainError VALIDATION_ERROR, NOT_FOUND or
   * SERVICE_UNAVAILABLE.
   */
  async get(id: string, options: RecordOptions = {}): Promise<TimeLog<A>> {
    const access = accessTo(undefined, options, this.attributeRules);
    const log = await this.storeOf(options).get(logIdOf(id), access);
    if (log === undefined) throw notFound();
    return log as TimeLog<A>;
  }

  /**
   * Returns a page of the matching logs, by default the first 50 of all, newest date first, and their number. Throws
   * DomainError VALIDATION_ERROR, FORBIDDEN or SERVICE_UNAVAILABLE.
   */
  async list(
    filter?: TimeLogFilterInput,
    page?: PageInput,
    options: CallOptions = {},
  ): Promise<TimeLogPage<A>> {
    return this.repository.find(...readArguments(filter, page, options, this.attributeRules)) as Promise<
      TimeLogPage<A>
    >;
  }

  /**
   * Yields the matching logs, each once while others are recorded: project by project if they are of some, and
   * newest date first. A log that gets another date or project meanwhile may come twice, or not at all. Each read
   * returns 1000 logs, and nothing stays open in between. Throws like `list`.
   */
  async *iterate(
    filter?: TimeLogFilterInput,
    options: CallOptions = {},
  ): AsyncGenerator<TimeLog<A>, undefined> {
    const { projectIds, ...matching } = filterOf(filter, this.attributeRules);
    const access = accessTo(projectIds, options, this.attributeRules);
    const projects = projectIds ?? access.projects ?? [undefined];
    for (const project of new Set(projects)) {
      const ofProject = { ...matching, projectIds: project === undefined ? undefined : [project] };
      let logs: readonly TimeLog<A>[] = [];
      do {
        const place = logs.at(-1);
        const found = await this.repository.after(ofProject, place, MAX_PAGE_LIMIT, access);
        logs = found as readonly TimeLog<A>[];
        yield* logs;
      } while (logs.length === MAX_PAGE_LIMIT);
    }
  }

  /** Returns the same page as JSON. Throws like `list`. */
  async items(
    filter?: TimeLogFilterInput,
    page?: PageInput,
    options: CallOptions = {},
  ): Promise<TimeLogItems> {
    return this.repository.items(...readArguments(filter, page, options, this.attributeRules));
  }

  /** Returns the writer for the changes of a call, in its transaction if it has one. */
  private writesOf(options: RecordOptions): TimeLogWrites {
    return this.wrap(this.storeOf(options), options);
  }

  private storeOf({ manager }: RecordOptions): TimeLogStore {
    return manager ? this.repository.within(manager) : this.repository;
  }

  /** Stores new logs, or returns those that the key has recorded, as they were answered. */
  private async store(
    created: readonly NewLog[],
    options: RecordOptions,
    key?: RequestKey,
  ): Promise<{ readonly logs: readonly TimeLog[]; readonly isReplay: boolean }> {
    const logs = created.map(({ log }) => log);
    if (logs.length === 0) return { logs, isReplay: false };
    const { caller, deadline } = options;
    const recorded = await this.writesOf(options).record(logs, {
      key,
      callerId: caller?.id,
      deadlineMs: deadline,
    });
    if (!recorded.isReplay) return recorded;
    const answered = recorded.logs.map((log, index) =>
      // The key has the same fingerprint, so its logs had the values that are sent now.
      TimeLog.restore({ ...normalizedValues('projectId' in log ? log : created[index]!.input), id: log.id }),
    );
    // A hook may have recorded them for another project, which the caller may have lost.
    requireAccess(answered, options, this.attributeRules);
    return { logs: answered, isReplay: true };
  }

  /** Returns a new log of values. Checks them, and then the access. */
  private async newLog(values: TimeLogValues, options: CallOptions): Promise<NewLog> {
    const attributes = await this.attributeRules.validate(values.attributes, options.caller?.attributes);
    const log = TimeLog.of(values, this.ids.next(), attributes);
    requireAccess([log], options, this.attributeRules);
    return { log, input: withInput(values, attributes) };
  }

  /** Returns a new log for each of the values. Checks all before it rejects, and then the access. */
  private async newLogs(batch: readonly TimeLogValues[], options: RecordOptions): Promise<NewLog[]> {
    const faults: Fault[] = [];
    const created: NewLog[] = [];
    for (const [index, values] of batch.entries()) {
      const attributes = await this.attributeRules.validate(values.attributes, options.caller?.attributes);
      const log = TimeLog.ofOrFaults(values, this.ids.next(), attributes);
      if (log instanceof TimeLog) created.push({ log, input: withInput(values, attributes) });
      else faults.push(...faultsAt(`timeLogs[${index}]`, log));
    }
    if (faults.length > 0) throw batchError(faults);
    requireAccess(
      created.map(({ log }) => log),
      options,
      this.attributeRules,
    );
    return created;
  }

  /** Checks and converts the attributes of a correction, unless they are those that are stored. */
  private async converted(
    { attributes }: TimeLogValues,
    stored: Attributes | undefined,
    options: CallOptions,
  ): Promise<ConvertedAttributes> {
    if (attributes === stored) return { faults: [], output: stored };
    return this.attributeRules.validate(attributes, options.caller?.attributes);
  }

  /** Replaces a log, which must still be the expected one. */
  private async replace(
    log: TimeLog,
    expected: TimeLog | undefined,
    access: TimeLogAccess,
    options: RecordOptions,
  ): Promise<TimeLog<A>> {
    const corrected = await this.writesOf(options).correct(log, access, options.caller?.id, expected);
    if (corrected === undefined) throw notFound();
    return corrected as TimeLog<A>;
  }

  /**
   * Makes a change, only of the versions that the options allow. A log outside the access is rejected before the change
   * enters the queue: a caller who may not change it must not delay others, nor see by its own delay that they wait.
   * The statement that changes the log checks again. A transaction of the caller has no queue, and the log may be
   * visible only there.
   */
  private async changeIfVersionAllowed<T>(
    id: string,
    options: ChangeOptions,
    change: (expected?: TimeLog) => Promise<T>,
  ): Promise<T> {
    const { caller = {}, manager, ifMatch, ifNoneMatch } = options;
    if (ifNoneMatch || (ifMatch && !ifMatch.includes(ANY_VERSION)))
      return this.readThenChange(id, options, (log) => () => change(log));
    if (isBound(caller) && !manager) await this.get(id, options);
    return change();
  }

  /**
   * Prepares a change of the current log and, if it has a version that the options allow, makes it. If the log changes
   * meanwhile, this is done again, up to 5 times.
   */
  private async readThenChange<T>(
    id: string,
    options: ChangeOptions,
    prepare: (expected: TimeLog<A>) => (() => Promise<T>) | Promise<() => Promise<T>>,
  ): Promise<T> {
    for (let retries = MAX_RETRIES; ; retries--) {
      const log = await this.get(id, options);
      const change = await prepare(log);
      requireVersion(log, options);
      try {
        return await change();
      } catch (error) {
        // A hook may throw another error with its code.
        if (!(error instanceof TimeLogChangedError)) throw error;
        if (retries === 0) throw new DomainError('SERVICE_UNAVAILABLE', undefined, { cause: error });
      }
    }
  }
}

/** Throws DomainError PRECONDITION_FAILED if the options do not allow a change of this version. */
function requireVersion(log: TimeLog, { ifMatch, ifNoneMatch }: ChangeOptions): void {
  if (ifMatch && !isVersionIn(ifMatch, log)) throw new DomainError(TIME_LOG_CHANGED);
  if (ifNoneMatch && isVersionIn(ifNoneMatch, log)) throw new DomainError(VERSION_EXCLUDED);
}

/** Returns values with the input of a schema as their attributes, which it may have changed since. */
function withInput(values: TimeLogValues, { input }: ConvertedAttributes): TimeLogValues {
  return input === values.attributes ? values : { ...values, attributes: input };
}

function notFound(): DomainError {
  return new DomainError('NOT_FOUND', 'there is no time log with this id');
}
