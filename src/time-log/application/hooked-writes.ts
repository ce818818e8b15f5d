import type { TimeLogRepository, TimeLogWrites } from '../domain/time-log.repository.js';
import type { TimeLog } from '../domain/time-log.js';
import type { Transaction } from '../domain/transaction.js';
import type { Call } from './call.js';
import type { TimeLogChange, TimeLogHooks } from './time-log-hooks.js';

/** A change, with what makes it. */
interface Write<Outcome> {
  readonly change: TimeLogChange;
  /** Writes it, and resolves with what became of it. */
  readonly write: (writes: TimeLogWrites) => Promise<Outcome>;
  /** The log that was written or deleted; undefined: none was. */
  readonly written: (outcome: Outcome) => TimeLog | undefined;
  /** Changes with one turn come one after the other. */
  readonly turn?: string;
}

/** A change without a key is made each time that somebody asks for it. */
const never = () => Promise.resolve(false);

/** Writes changes of logs between the hooks of a host. Without a hook `within` they share commits. */
export class HookedWrites {
  constructor(
    private readonly timeLogs: TimeLogRepository,
    private readonly hooks: TimeLogHooks,
  ) {}

  /** Asks the hook, unless the change was made before. Throws what the hook throws. */
  async before(
    { transaction }: Call,
    change: TimeLogChange,
    wasMade: () => Promise<boolean> = never,
  ): Promise<void> {
    if (this.hooks.before && !(await wasMade())) await this.hooks.before(change, transaction);
  }

  /** Writes a change, in the transaction of the call if it has one. Throws what the write and the hook throw. */
  run<Outcome>(call: Call, { change, write, written, turn }: Write<Outcome>): Promise<Outcome> {
    if (!this.hooks.within) return write(this.writesOf(call));
    const inside = async (transaction: Transaction) => {
      const outcome = await write(this.timeLogs.within(transaction));
      const log = written(outcome);
      if (log) await this.hooks.within!({ ...change, id: log.id, log }, transaction);
      return outcome;
    };
    return call.transaction
      ? inside(call.transaction)
      : this.timeLogs.transact(inside, turn, call.caller?.id);
  }

  /** What writes in the transaction of a call, or in one of its own. */
  writesOf({ transaction }: Call): TimeLogWrites {
    return transaction === undefined ? this.timeLogs : this.timeLogs.within(transaction);
  }
}
