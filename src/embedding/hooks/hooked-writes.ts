import type { EntityManager } from 'typeorm';
import {
  type AttributeRules,
  type Attributes,
  isPlainObject,
  mapKeyOf,
  normalizedValues,
  type Recorded,
  type TimeLogAccess,
  type RecordOptions,
  requireAccess,
  type StoreOptions,
  TimeLog,
  type TimeLogRepository,
  type TimeLogStore,
  type TimeLogValues,
  type TimeLogWrites,
  type TransactionHandle,
  type TransactOptions,
} from '../../time-log/index.js';
import { faultOf, throwFaults } from '../../../libs/errors/src/index.js';
import { MAX_JSON_DEPTH } from '../../../libs/strict-request/src/index.js';
import { frozenCopy, jsonFault } from '../../attributes/index.js';
import type { TimeLogChange, TimeLogHooks, WrittenTimeLogChange } from './time-log-hooks.js';

/** The limits of the attributes of a hook. As in a body, they are within one level. */
const BOUNDS = { depth: MAX_JSON_DEPTH - 1, bytes: Infinity };

/**
 * Runs the hooks of a host around the changes of one call. Each method also throws what a hook throws. With the
 * hook `within` each create and each `recordAll` has a transaction of its own; without it creates share commits.
 */
export class HookedWrites implements TimeLogWrites {
  constructor(
    /** Stores the changes, in the transaction of the call if it has one. */
    private readonly store: TimeLogStore,
    private readonly repository: Pick<TimeLogRepository, 'transact' | 'within'>,
    private readonly hooks: TimeLogHooks,
    private readonly options: RecordOptions,
    private readonly rules: AttributeRules,
  ) {}

  async record(sent: readonly TimeLog[], storeOptions: StoreOptions = {}): Promise<Recorded> {
    const { key } = storeOptions;
    const known = key && this.hooks.before && (await this.store.findByKey(key));
    if (known) return { isReplay: true, logs: known };
    const logs: TimeLog[] = [];
    for (const log of sent) logs.push(await this.before(changeOfRecord(log, this.options), log));
    return this.recordNew(logs, storeOptions);
  }

  async correct(
    sent: TimeLog,
    access: TimeLogAccess,
    ...more: [callerId?: string, expected?: TimeLog]
  ): Promise<TimeLog | undefined> {
    const { id } = sent;
    const { caller } = this.options;
    const log = await this.before({ kind: 'correct', id, values: normalizedValues(sent), caller }, sent);
    const values = normalizedValues(log);
    return this.transact(
      async (store, transaction) => {
        if (!transaction) return store.correct(log, access, ...more);
        const previous = await store.get(id, access, true);
        const corrected = previous && (await store.correct(log, access, ...more));
        if (corrected)
          await this.within({ kind: 'correct', id, values, log: corrected, previous, caller }, transaction);
        return corrected;
      },
      { queueKey: id },
    );
  }

  async delete(
    id: string,
    access: TimeLogAccess,
    ...more: [callerId?: string, expected?: TimeLog]
  ): Promise<TimeLog | undefined> {
    const { caller } = this.options;
    await this.before({ kind: 'delete', id, caller }, undefined);
    return this.transact(
      async (store, transaction) => {
        const log = await store.delete(id, access, ...more);
        if (log && transaction)
          await this.within({ kind: 'delete', id, log, previous: log, caller }, transaction);
        return log;
      },
      { queueKey: id },
    );
  }

  /** Runs `before`. Returns the log, with the values that the hook returns. */
  private async before<Log extends TimeLog | undefined>(
    change: TimeLogChange,
    log: Log,
  ): Promise<Log | TimeLog> {
    const values: unknown = await this.hooks.before?.(
      change,
      this.options.manager as EntityManager | undefined,
    );
    // A function that is written as an expression may return anything.
    if (log === undefined || typeof values !== 'object' || values === null) return log;
    if ('attributes' in values && values.attributes !== undefined && !this.rules.haveAttributes)
      throw new Error('a hook returns attributes: give TimeLogModule a schema for them');
    const replaced = replace(log, values as TimeLogValues);
    requireAccess([replaced], this.options, this.rules);
    return replaced;
  }

  /** Stores logs and, if they are new, runs `within` for each. Creates with the same key run one at a time. */
  private recordNew(logs: readonly TimeLog[], storeOptions: StoreOptions): Promise<Recorded> {
    const { key, deadlineMs } = storeOptions;
    return this.transact(
      async (store, transaction) => {
        const recorded = await store.record(logs, storeOptions);
        for (const log of transaction && !recorded.isReplay ? recorded.logs : [])
          await this.within({ ...changeOfRecord(log, this.options), id: log.id, log }, transaction!);
        return recorded;
      },
      { queueKey: key && mapKeyOf(key), deadlineMs, isBatch: logs.length > 1 },
    );
  }

  private async within(change: WrittenTimeLogChange, transaction: TransactionHandle): Promise<void> {
    await this.hooks.within!(change, transaction as EntityManager);
  }

  /** Runs work in the transaction of the call or in one of its own; without `within` it needs none. */
  private transact<Outcome>(
    work: (store: TimeLogStore, transaction?: TransactionHandle) => Promise<Outcome>,
    transactOptions: TransactOptions,
  ): Promise<Outcome> {
    if (!this.hooks.within) return work(this.store);
    const { manager, caller } = this.options;
    if (manager) return work(this.repository.within(manager), manager);
    const run = (transaction: TransactionHandle) => work(this.repository.within(transaction), transaction);
    return this.repository.transact(run, { ...transactOptions, callerId: caller?.id });
  }
}

function changeOfRecord(log: TimeLog, { caller }: RecordOptions): TimeLogChange & { kind: 'record' } {
  return { kind: 'record', values: normalizedValues(log), caller };
}

/**
 * Returns a log with the values of a hook; without attributes, those of the log stay. Throws DomainError
 * VALIDATION_ERROR if they break our own rules.
 */
function replace(log: TimeLog, { attributes, ...values }: TimeLogValues): TimeLog {
  if (attributes === undefined) return TimeLog.of({ ...values, attributes: log.attributes }, log.id);
  const fault = isPlainObject(attributes) ? jsonFault(attributes, BOUNDS) : 'must be an object';
  if (fault !== undefined) throwFaults([faultOf('attributes', attributes, 'json', fault)]);
  return TimeLog.of({ ...values, attributes: frozenCopy(attributes) as Attributes }, log.id);
}
