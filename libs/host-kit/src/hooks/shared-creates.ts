import type { EntityManager } from 'typeorm';
import {
  type IdempotencyKey,
  normalizedValues,
  type RecordOptions,
  type TimeLog,
  type TimeLogRepository,
  type TransactionHandle,
  type WriteLimits,
} from '../../../../src/time-log/index.js';
import { Batcher } from '../../../batching/src/index.js';
import { DomainError } from '../../../errors/src/index.js';
import type {
  BatchedTimeLogHooks,
  TimeLogChange,
  TimeLogHooks,
  WrittenTimeLogChange,
} from './time-log-hooks.js';

/** The maximum number of creates in one transaction. */
const MAX_SHARED_CREATES = 200;

interface Create {
  readonly log: TimeLog;
  readonly key?: IdempotencyKey;
  readonly call: RecordOptions;
}

/** Stores concurrent creates in one transaction, with one call of the hook. */
export class SharedCreates {
  private readonly batcher: Batcher<Create, string>;

  constructor(
    private readonly timeLogs: Pick<TimeLogRepository, 'transact' | 'within'>,
    private readonly hooks: BatchedTimeLogHooks,
    { queue, wait }: WriteLimits,
  ) {
    this.batcher = new Batcher(
      (creates) => timeLogs.transact((transaction) => this.store(creates, transaction)),
      { batch: MAX_SHARED_CREATES, queue, wait },
      // A hook may throw anything because of one log. An outage or a timeout concerns all.
      (error) => !(error instanceof DomainError && error.code === 'SERVICE_UNAVAILABLE'),
    );
  }

  /** Returns the id of the stored log, or that of the log of a known key. */
  add(create: Create, deadline?: number): Promise<string> {
    return this.batcher.add(create, deadline);
  }

  private async store(
    creates: readonly Create[],
    transaction: TransactionHandle,
  ): Promise<(string | Error)[]> {
    const writes = this.timeLogs.within(transaction);
    const outcomes = new Map<Create, string | Error>(creates.map((create) => [create, create.log.id]));
    const unkeyed = creates.filter(({ key }) => !key);
    if (unkeyed.length > 0) await writes.addAll(unkeyed.map(({ log }) => log));
    // All instances lock keys in one order, so that no two of them wait for each other.
    const keyed = creates
      .filter(({ key }) => key)
      .sort((a, b) => (queueKeyOf(a.key!) < queueKeyOf(b.key!) ? -1 : 1));
    for (const create of keyed) {
      const outcome = await writes.addOnce(create.log, create.key!).catch((error: unknown) => {
        if (error instanceof DomainError && error.code === 'IDEMPOTENCY_KEY_REUSED') return error;
        throw error;
      });
      outcomes.set(create, outcome);
    }
    const made = creates.filter((create) => outcomes.get(create) === create.log.id);
    await runWithin(
      this.hooks,
      made.map(({ log, call }) => writtenChange(log, call)),
      transaction,
    );
    return [...outcomes.values()];
  }
}

/** Returns a text that is different for each key of each caller. */
export function queueKeyOf({ caller, text }: IdempotencyKey): string {
  return JSON.stringify([caller, text]);
}

/** Returns the change that records a log, for `before`. */
export function changeOfRecord(log: TimeLog, { caller }: RecordOptions): TimeLogChange & { kind: 'record' } {
  return { kind: 'record', values: normalizedValues(log), caller };
}

/** Returns the same change for `within`. */
export function writtenChange(log: TimeLog, call: RecordOptions): WrittenTimeLogChange {
  return { ...changeOfRecord(log, call), id: log.id, log };
}

/** Runs `within` for changes, if there are any. */
export async function runWithin(
  hooks: TimeLogHooks | BatchedTimeLogHooks,
  changes: readonly WrittenTimeLogChange[],
  transaction: TransactionHandle,
): Promise<void> {
  if (changes.length === 0) return;
  const manager = transaction as EntityManager;
  if (hooks.batched) await hooks.within!(changes, manager);
  else for (const change of changes) await hooks.within!(change, manager);
}
