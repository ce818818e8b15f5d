import type { EntityManager } from 'typeorm';
import {
  type Attributes,
  type CallWrites,
  type IdempotencyKey,
  isPlainObject,
  mapKeyOf,
  normalizedValues,
  type TimeLogAccess,
  type RecordOptions,
  requireAccess,
  TimeLog,
  type TimeLogRepository,
  type TimeLogValues,
  type TimeLogWrites,
  type TransactionHandle,
} from '../../../../src/time-log/index.js';
import { faultOf, throwFaults } from '../../../errors/src/index.js';
import { MAX_JSON_DEPTH } from '../../../strict-request/src/index.js';
import { deepFreeze, jsonCopy, jsonFault } from '../../../attributes/src/index.js';
import { changeOfRecord, runWithin, type SharedCreates, writtenChange } from './shared-creates.js';
import type { BatchedTimeLogHooks, TimeLogChange, TimeLogHooks } from './time-log-hooks.js';

/** The arguments of a transaction for its queue. */
interface Turn {
  readonly queueKey?: string | undefined;
  readonly deadline?: number | undefined;
  readonly batch?: number;
}

/** The limits of the attributes of a hook. As in a body, they are within one level. */
const BOUNDS = { depth: MAX_JSON_DEPTH - 1, bytes: Infinity };

/**
 * Runs the hooks of a host around the changes of one call. Each method also throws what a hook throws. Without
 * the hook `within` changes share commits.
 */
export class HookedWrites implements CallWrites {
  constructor(
    /** Stores the changes, in the transaction of the call if it has one. */
    private readonly writes: TimeLogWrites,
    private readonly timeLogs: Pick<TimeLogRepository, 'transact' | 'within'>,
    private readonly hooks: TimeLogHooks | BatchedTimeLogHooks,
    private readonly call: RecordOptions,
    /** Whether logs have attributes, which `before` may replace. */
    private readonly hasAttributes: boolean,
    /** Stores creates together with those of other calls, for hooks that take several changes. */
    private readonly shared?: SharedCreates,
  ) {}

  async add(sent: TimeLog, deadline?: number): Promise<TimeLog> {
    const log = await this.beforeRecord(sent);
    await this.create(log, undefined, deadline);
    return log;
  }

  async addOnce(sent: TimeLog, key: IdempotencyKey, deadline?: number): Promise<TimeLog | string> {
    const isKnown = this.hooks.before && (await this.writes.known(sent, key)) !== undefined;
    const log = isKnown ? sent : await this.beforeRecord(sent);
    const id = await this.create(log, key, deadline);
    return id === log.id ? log : id;
  }

  async addAll(sent: readonly TimeLog[], caller?: string, deadline?: number): Promise<readonly TimeLog[]> {
    const logs = await this.beforeRecords(sent);
    const store = async (writes: TimeLogWrites) => (await writes.addAll(logs, caller, deadline), logs);
    await this.record(store, { deadline, batch: logs.length });
    return logs;
  }

  async addAllOnce(
    sent: readonly TimeLog[],
    key: IdempotencyKey,
    caller?: string,
    deadline?: number,
  ): Promise<readonly (TimeLog | string)[]> {
    const isKnown = this.hooks.before && (await this.writes.knownAll(sent, key)) !== undefined;
    const logs = isKnown ? sent : await this.beforeRecords(sent);
    let ids!: readonly string[];
    const store = async (writes: TimeLogWrites) => {
      ids = await writes.addAllOnce(logs, key, caller, deadline);
      return ids[0] === logs[0]?.id ? logs : [];
    };
    await this.record(store, { queueKey: mapKeyOf(key), deadline, batch: logs.length });
    return ids[0] === logs[0]?.id ? logs : ids;
  }

  get(...query: Parameters<TimeLogWrites['get']>): Promise<TimeLog | undefined> {
    return this.writes.get(...query);
  }

  async correct(
    sent: TimeLog,
    access: TimeLogAccess,
    ...more: [caller?: string, expected?: TimeLog]
  ): Promise<TimeLog | undefined> {
    const { id } = sent;
    const { caller } = this.call;
    const log = await this.before({ kind: 'correct', id, values: normalizedValues(sent), caller }, sent);
    const values = normalizedValues(log);
    return this.transact(
      async (writes, transaction) => {
        if (!transaction) return writes.correct(log, access, ...more);
        const previous = await writes.get(id, access, true);
        const corrected = previous && (await writes.correct(log, access, ...more));
        if (corrected)
          await runWithin(
            this.hooks,
            [{ kind: 'correct', id, values, log: corrected, previous, caller }],
            transaction,
          );
        return corrected;
      },
      { queueKey: id },
    );
  }

  async delete(
    id: string,
    access: TimeLogAccess,
    ...more: [caller?: string, expected?: TimeLog]
  ): Promise<TimeLog | undefined> {
    const { caller } = this.call;
    await this.before({ kind: 'delete', id, caller }, undefined);
    return this.transact(
      async (writes, transaction) => {
        const log = await writes.delete(id, access, ...more);
        const changes = log ? [{ kind: 'delete', id, log, previous: log, caller } as const] : [];
        if (transaction) await runWithin(this.hooks, changes, transaction);
        return log;
      },
      { queueKey: id },
    );
  }

  /** Stores a log. Returns its id, or that of the log of a known key. */
  private async create(log: TimeLog, key?: IdempotencyKey, deadline?: number): Promise<string> {
    const { call, shared } = this;
    const store = async (wait?: number, requireTime?: () => void) => {
      let { id } = log;
      const add = async (writes: TimeLogWrites) => {
        if (key) id = await writes.addOnce(log, key, wait);
        else await writes.add(log, wait);
        return id === log.id ? [log] : [];
      };
      await this.record(add, { queueKey: key && mapKeyOf(key), deadline: wait }, requireTime);
      return id;
    };
    return shared && !call.manager ? shared.add({ log, key, call }, deadline, store) : store(deadline);
  }

  private beforeRecord(log: TimeLog): Promise<TimeLog> {
    return this.before(changeOfRecord(log, this.call), log);
  }

  private async beforeRecords(logs: readonly TimeLog[]): Promise<readonly TimeLog[]> {
    if (!this.hooks.before) return logs;
    const found: TimeLog[] = [];
    for (const log of logs) found.push(await this.beforeRecord(log));
    return found;
  }

  /** Runs `before`. Returns the log, with the values that the hook returns. */
  private async before<Log extends TimeLog | undefined>(
    change: TimeLogChange,
    log: Log,
  ): Promise<Log | TimeLog> {
    const values: unknown = await this.hooks.before?.(change, this.call.manager as EntityManager | undefined);
    // A function that is written as an expression may return anything.
    if (log === undefined || typeof values !== 'object' || values === null) return log;
    if ('attributes' in values && values.attributes !== undefined && !this.hasAttributes)
      throw new Error('a hook returns attributes: give TimeLogModule a schema for them');
    const replaced = replace(log, values as TimeLogValues);
    requireAccess([replaced], this.call);
    return replaced;
  }

  /** Stores logs and runs `within` for those that are new. Writes with the same queue key run one at a time. */
  private async record(
    store: (writes: TimeLogWrites) => Promise<readonly TimeLog[]>,
    turn: Turn,
    beforeCommit?: () => void,
  ): Promise<void> {
    await this.transact(async (writes, transaction) => {
      const logs = await store(writes);
      const changes = logs.map((log) => writtenChange(log, this.call));
      if (transaction) await runWithin(this.hooks, changes, transaction);
      beforeCommit?.();
    }, turn);
  }

  /** Runs work in the transaction of the call or in one of its own; without `within` it needs none. */
  private transact<Outcome>(
    work: (writes: TimeLogWrites, transaction?: TransactionHandle) => Promise<Outcome>,
    { queueKey, deadline, batch }: Turn,
  ): Promise<Outcome> {
    if (!this.hooks.within) return work(this.writes);
    const { manager, caller } = this.call;
    if (manager) return work(this.timeLogs.within(manager), manager);
    const run = (transaction: TransactionHandle) => work(this.timeLogs.within(transaction), transaction);
    return this.timeLogs.transact(run, queueKey, caller?.id, deadline, batch);
  }
}

/**
 * Returns a log with the values of a hook; without attributes, those of the log stay. Throws DomainError
 * VALIDATION_ERROR if they break our own rules.
 */
function replace(log: TimeLog, { attributes, ...values }: TimeLogValues): TimeLog {
  if (attributes === undefined) return TimeLog.replace(log, { ...values, attributes: log.attributes });
  const fault = isPlainObject(attributes) ? jsonFault(attributes, BOUNDS) : 'must be an object';
  if (fault !== undefined) throwFaults([faultOf('attributes', attributes, 'json', fault)]);
  return TimeLog.replace(log, { ...values, attributes: deepFreeze(jsonCopy(attributes)) as Attributes });
}
