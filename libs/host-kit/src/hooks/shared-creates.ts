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

/** Stores creates that come at once in one transaction, with a hook that takes all of them. */
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
    // In one order in all instances, so that none of two waits for a key of the other.
    const keyed = creates.filter(({ key }) => key).sort((a, b) => (a.key!.text < b.key!.text ? -1 : 1));
    for (const create of keyed) {
      const outcome = await writes.addOnce(create.log, create.key!).catch((error: unknown) => {
        if (error instanceof DomainError && error.code === 'IDEMPOTENCY_KEY_REUSED') return error;
        throw error;
      });
      outcomes.set(create, outcome);
    }
    const made = creates.filter((create) => outcomes.get(create) === create.log.id);
    const changes = made.map(({ log, call }) => ({ ...changeOfRecord(log, call), id: log.id, log }));
    await runWithin(this.hooks, changes, transaction);
    return [...outcomes.values()];
  }
}

export function changeOfRecord(log: TimeLog, { caller }: RecordOptions): TimeLogChange & { kind: 'record' } {
  return { kind: 'record', values: normalizedValues(log), caller };
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
