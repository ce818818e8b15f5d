import type { EntityManager } from 'typeorm';
import {
  type AnsweredLog,
  normalizedValues,
  QUEUE_FULL,
  type RecordOptions,
  type RequestKey,
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
  readonly key?: RequestKey | undefined;
  readonly call: RecordOptions;
}

/** A create, and a function that throws DomainError SERVICE_UNAVAILABLE if its time is over. */
type TimedCreate = Create & { readonly requireTime: () => void };

/**
 * Stores creates that come at once in one transaction, with a hook that takes all of them. If it fails, each create
 * gets a transaction of its own, so that none depends on another.
 */
export class SharedCreates {
  readonly queue: Batcher<TimedCreate, readonly AnsweredLog[] | undefined>;
  /** The number of creates that wait for a transaction of their own, or have one. */
  private alone = 0;

  constructor(
    private readonly timeLogs: Pick<TimeLogRepository, 'transact' | 'within'>,
    private readonly hooks: BatchedTimeLogHooks,
    private readonly limits: WriteLimits,
  ) {
    const { queue, wait } = limits;
    this.queue = new Batcher((creates) => this.storeAll(creates), {
      batch: MAX_SHARED_CREATES,
      queue,
      wait,
      fullMessage: QUEUE_FULL,
    });
  }

  /**
   * Returns the stored log, or that of a known key. `storeAlone` stores it in a transaction of
   * its own within the rest of the deadline: it calls `requireTime` before the commit.
   */
  async add(
    create: Create,
    deadline: number | undefined,
    storeAlone: (rest: number, requireTime: () => void) => Promise<readonly AnsweredLog[]>,
  ): Promise<readonly AnsweredLog[]> {
    if (deadline === undefined && this.alone >= this.limits.queue) throw unavailable(QUEUE_FULL);
    const end = performance.now() + (deadline ?? this.limits.wait);
    const requireTime = () => {
      if (performance.now() >= end) throw unavailable();
    };
    const recorded = await this.queue.add({ ...create, requireTime }, deadline);
    if (recorded !== undefined) return recorded;
    requireTime();
    this.alone++;
    return storeAlone(end - performance.now(), requireTime).finally(() => this.alone--);
  }

  /** Returns the log of each create, or undefined if it needs a transaction of its own. */
  private async storeAll(creates: readonly TimedCreate[]): Promise<(readonly AnsweredLog[] | undefined)[]> {
    let isStored = false as boolean;
    try {
      return await this.timeLogs.transact(async (transaction) => {
        const recorded = await this.store(creates, transaction);
        creates.forEach(({ requireTime }) => requireTime());
        isStored = true;
        return recorded;
      });
    } catch (error) {
      // After an outage during the commit, the logs may be stored.
      if (creates.length === 1 || (isStored && isUnavailable(error))) throw error;
      return creates.map(() => undefined);
    }
  }

  private async store(
    creates: readonly Create[],
    transaction: TransactionHandle,
  ): Promise<(readonly AnsweredLog[] | undefined)[]> {
    const writes = this.timeLogs.within(transaction);
    const unkeyed = creates.filter(({ key }) => !key).map(({ log }) => log);
    if (unkeyed.length > 0) await writes.record(unkeyed);
    const recorded: (readonly AnsweredLog[] | undefined)[] = [];
    for (const { log, key } of creates)
      recorded.push(
        key ? await writes.record([log], { key, deadline: 0 }).catch(rejectUnlessKeyError) : [log],
      );
    const made = creates.filter(({ log }, index) => recorded[index]?.[0]!.id === log.id);
    const changes = made.map(({ log, call }) => writtenChange(log, call));
    await runWithin(this.hooks, changes, transaction);
    return recorded;
  }
}

/** Returns undefined for a key that is in use or was used with other values: others can be stored. */
function rejectUnlessKeyError(error: unknown): undefined {
  if (!isUnavailable(error) && !(error instanceof DomainError && error.code === 'IDEMPOTENCY_KEY_REUSED'))
    throw error;
}

function isUnavailable(error: unknown): boolean {
  return error instanceof DomainError && error.code === 'SERVICE_UNAVAILABLE';
}

function unavailable(message?: string): DomainError {
  return new DomainError('SERVICE_UNAVAILABLE', message);
}

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
