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

  async add(log: TimeLog): Promise<void> {
    const change = this.changeOf('record', { values: normalizedValues(log) });
    await this.before(change);
    await this.write(
      change,
      (writes) => writes.add(log),
      () => log,
    );
  }

  async addOnce(log: TimeLog, key: IdempotencyKey): Promise<string> {
    const change = this.changeOf('record', { values: normalizedValues(log) });
    if (this.hooks.before && (await this.known(log, key)) === undefined) await this.before(change);
    return this.write(
      change,
      (writes) => writes.addOnce(log, key),
      (id) => (id === log.id ? log : undefined),
      JSON.stringify([key.caller, key.text]),
    );
  }

  known(log: TimeLog, key: IdempotencyKey): Promise<string | undefined> {
    return this.writes.known(log, key);
  }

  async correct(log: TimeLog, access: ProjectAccess, caller?: string): Promise<boolean> {
    const change = this.changeOf('correct', { id: log.id, values: normalizedValues(log) });
    await this.before(change);
    return this.write(
      change,
      (writes) => writes.correct(log, access, caller),
      (exists) => (exists ? log : undefined),
      log.id,
    );
  }

  async delete(id: string, access: ProjectAccess, caller?: string): Promise<TimeLog | undefined> {
    const change = this.changeOf('delete', { id });
    await this.before(change);
    return this.write(
      change,
      (writes) => writes.delete(id, access, caller),
      (log) => log,
      id,
    );
  }

  private changeOf(kind: TimeLogChange['kind'], more: Partial<TimeLogChange>): TimeLogChange {
    return { kind, ...more, caller: this.call.caller };
  }

  private async before(change: TimeLogChange): Promise<void> {
    await this.hooks.before?.(change, this.call.manager);
  }

  /** Writes a change and runs `within`. Changes with the same queue key run one at a time. */
  private write<Outcome>(
    change: TimeLogChange,
    write: (writes: TimeLogWrites) => Promise<Outcome>,
    changedLogOf: (outcome: Outcome) => TimeLog | undefined,
    queueKey?: string,
  ): Promise<Outcome> {
    if (!this.hooks.within) return write(this.writes);
    const inside = async (transaction: TransactionHandle) => {
      const outcome = await write(this.timeLogs.within(transaction));
      const log = changedLogOf(outcome);
      if (log) await this.hooks.within!({ ...change, id: log.id, log }, transaction);
      return outcome;
    };
    const { manager, caller } = this.call;
    return manager ? inside(manager) : this.timeLogs.transact(inside, queueKey, caller?.id);
  }
}
