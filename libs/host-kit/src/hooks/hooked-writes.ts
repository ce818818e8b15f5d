import {
  type IdempotencyKey,
  normalizedValues,
  type ProjectAccess,
  type RecordOptions,
  type TimeLog,
  type TimeLogRepository,
  type TimeLogWrites,
  type TransactionHandle,
} from '../../../../src/time-log/index.js';
import type { TimeLogChange, TimeLogHooks } from './time-log-hooks.js';

/**
 * Runs the hooks of a host around the changes of one call. Each method also throws what a hook throws. Without
 * the hook `within` changes share commits.
 */
export class HookedWrites implements TimeLogWrites {
  constructor(
    /** Stores the changes, in the transaction of the call if it has one. */
    private readonly writes: TimeLogWrites,
    private readonly timeLogs: Pick<TimeLogRepository, 'transact' | 'within'>,
    private readonly hooks: TimeLogHooks,
    private readonly call: RecordOptions,
  ) {}

  async add(log: TimeLog, deadline?: number): Promise<void> {
    await this.beforeAll([log]);
    await this.write(
      this.recordOf,
      (writes) => writes.add(log, deadline),
      () => [log],
    );
  }

  async addOnce(log: TimeLog, key: IdempotencyKey, deadline?: number): Promise<string> {
    if (this.hooks.before && (await this.known(log, key)) === undefined) await this.beforeAll([log]);
    return this.write(
      this.recordOf,
      (writes) => writes.addOnce(log, key, deadline),
      (id) => (id === log.id ? [log] : []),
      queueKeyOf(key),
    );
  }

  known(log: TimeLog, key: IdempotencyKey): Promise<string | undefined> {
    return this.writes.known(log, key);
  }

  async addAll(logs: readonly TimeLog[], caller?: string, deadline?: number): Promise<void> {
    await this.beforeAll(logs);
    await this.write(
      this.recordOf,
      (writes) => writes.addAll(logs, caller, deadline),
      () => logs,
      undefined,
      logs.length,
    );
  }

  async addAllOnce(
    logs: readonly TimeLog[],
    key: IdempotencyKey,
    caller?: string,
    deadline?: number,
  ): Promise<readonly string[]> {
    if (this.hooks.before && (await this.knownAll(logs, key)) === undefined) await this.beforeAll(logs);
    return this.write(
      this.recordOf,
      (writes) => writes.addAllOnce(logs, key, caller, deadline),
      ([id]) => (id === logs[0]?.id ? logs : []),
      queueKeyOf(key),
      logs.length,
    );
  }

  knownAll(logs: readonly TimeLog[], key: IdempotencyKey): Promise<readonly string[] | undefined> {
    return this.writes.knownAll(logs, key);
  }

  get(...query: Parameters<TimeLogWrites['get']>): Promise<TimeLog | undefined> {
    return this.writes.get(...query);
  }

  async correct(
    log: TimeLog,
    ...more: [access: ProjectAccess, caller?: string, expected?: TimeLog]
  ): Promise<TimeLog | undefined> {
    const change = this.changeOf('correct', { id: log.id, values: normalizedValues(log) });
    await this.before(change);
    return this.write(
      () => change,
      (writes) => writes.correct(log, ...more),
      (corrected) => (corrected ? [corrected] : []),
      log.id,
    );
  }

  async delete(
    id: string,
    ...more: [access: ProjectAccess, caller?: string, expected?: TimeLog]
  ): Promise<TimeLog | undefined> {
    const change = this.changeOf('delete', { id });
    await this.before(change);
    return this.write(
      () => change,
      (writes) => writes.delete(id, ...more),
      (log) => (log ? [log] : []),
      id,
    );
  }

  private changeOf(kind: TimeLogChange['kind'], more: Partial<TimeLogChange>): TimeLogChange {
    return { kind, ...more, caller: this.call.caller };
  }

  private readonly recordOf = (log: TimeLog): TimeLogChange =>
    this.changeOf('record', { values: normalizedValues(log) });

  private async beforeAll(logs: readonly TimeLog[]): Promise<void> {
    if (this.hooks.before) for (const log of logs) await this.before(this.recordOf(log));
  }

  private async before(change: TimeLogChange): Promise<void> {
    await this.hooks.before?.(change, this.call.manager);
  }

  /** Writes logs and runs `within` for each. Writes with the same queue key run one at a time. */
  private write<Outcome>(
    changeTo: (log: TimeLog) => TimeLogChange,
    write: (writes: TimeLogWrites) => Promise<Outcome>,
    changedLogsOf: (outcome: Outcome) => readonly TimeLog[],
    queueKey?: string,
    batch?: number,
  ): Promise<Outcome> {
    if (!this.hooks.within) return write(this.writes);
    const inside = async (transaction: TransactionHandle) => {
      const outcome = await write(this.timeLogs.within(transaction));
      for (const log of changedLogsOf(outcome))
        await this.hooks.within!({ ...changeTo(log), id: log.id, log }, transaction);
      return outcome;
    };
    const { manager, caller, deadline } = this.call;
    return manager ? inside(manager) : this.timeLogs.transact(inside, queueKey, caller?.id, deadline, batch);
  }
}

function queueKeyOf({ caller, text }: IdempotencyKey): string {
  return JSON.stringify([caller, text]);
}
