import { Logger } from '@nestjs/common';
import { reasonOf } from '../../libs/errors/src/index.js';
import { PreparedStatement } from './prepared-statements.js';
import { WAIT_FOR_DISK, WAITS_FOR_LESS } from './transaction.js';
import { hasState } from './unavailability.js';

const NO_SETTING = 'time_logs.read_committed';
/**
 * A condition for a statement that is sent without BEGIN: raises `synchronous_commit`, as BEGIN does here. It is true;
 * under another isolation level it fails, by asking for a setting that nobody has.
 */
const AS_BEGUN = `(
  select case when current_setting('transaction_isolation') <> 'read committed' then current_setting('${NO_SETTING}')
              when ${WAITS_FOR_LESS} then ${WAIT_FOR_DISK} else 'on' end) is not null`;

/** One that changes something and may be a transaction of its own, without `begin` and `commit`. */
export class LoneChange extends PreparedStatement {
  /** What is sent where nothing is around it. */
  readonly alone: PreparedStatement;

  /** Makes the text around a condition, which the statement must evaluate before it writes a row. */
  constructor(textWhere: (condition: string) => string) {
    super(textWhere('true'));
    this.alone = new PreparedStatement(textWhere(AS_BEGUN));
  }
}

/** How one change can be sent. */
interface Ways<Outcome> {
  readonly alone: () => Promise<Outcome>;
  readonly begun: () => Promise<Outcome>;
  /** The isolation level of a statement that is sent alone. */
  readonly level: () => Promise<string>;
}

/**
 * Sends changes alone, until it is seen that role, database or server have another isolation level than READ COMMITTED.
 */
export class LoneChanges {
  private readonly logger = new Logger(LoneChanges.name);
  /** Undefined until one has come through, or has not. */
  private areAlone: boolean | undefined;

  async run<Outcome>({ alone, begun, level }: Ways<Outcome>): Promise<Outcome> {
    if (this.areAlone === false) return begun();
    const isFirst = this.areAlone === undefined;
    try {
      const outcome = await alone();
      this.areAlone ??= true;
      return outcome;
    } catch (error) {
      // Nothing was done. A trigger of a host may run before the condition, and fail by 40001 under the level; a
      // standby refuses SERIALIZABLE by 0A000. Both may have another cause too.
      const isOfLevel = hasState(error, /^42704$/) && reasonOf(error).includes(NO_SETTING);
      const mayBe = isFirst && hasState(error, /^(?:40001|0A000)$/);
      if (!isOfLevel && !(mayBe && (await level()) !== 'read committed')) throw error;
      this.giveUp();
      return begun();
    }
  }

  private giveUp(): void {
    if (this.areAlone === false) return;
    this.areAlone = false;
    this.logger.log('the default isolation level is not READ COMMITTED: a create takes begin and commit');
  }
}
