import { Logger } from '@nestjs/common';
import { reasonOf } from '../../libs/errors/src/index.js';
import { PreparedStatement } from './prepared-statements.js';
import { IS_COMMIT_RELAXED, WAIT_FOR_DISK } from './transaction.js';
import { hasSqlState } from './unavailability.js';

const MISSING_SETTING = 'time_logs.read_committed';
/**
 * A condition for a statement without BEGIN. It is true, and raises `synchronous_commit` as our
 * BEGIN does. Under another isolation level than READ COMMITTED it fails, because it reads a
 * setting that does not exist.
 */
const AUTOCOMMIT_CONDITION = `(
  select case when current_setting('transaction_isolation') <> 'read committed' then current_setting('${MISSING_SETTING}')
              when ${IS_COMMIT_RELAXED} then ${WAIT_FOR_DISK} else 'on' end) is not null`;

/** A statement that writes and may be a transaction of its own, without BEGIN and COMMIT. */
export class AutocommitStatement extends PreparedStatement {
  /** The statement to send without BEGIN. */
  readonly autocommit: PreparedStatement;

  /** Creates both texts. The statement must evaluate the condition before it writes a row. */
  constructor(textWithCondition: (condition: string) => string) {
    super(textWithCondition('true'));
    this.autocommit = new PreparedStatement(textWithCondition(AUTOCOMMIT_CONDITION));
  }
}

/** The ways to send one statement. */
interface SendStrategies<Outcome> {
  readonly autocommit: () => Promise<Outcome>;
  readonly inTransaction: () => Promise<Outcome>;
  /** Returns the isolation level of a statement without BEGIN. */
  readonly isolationLevel: () => Promise<string>;
}

/** Sends statements without BEGIN, unless the default isolation level is not READ COMMITTED. */
export class AutocommitStatements {
  private readonly logger = new Logger(AutocommitStatements.name);
  /** Undefined until the first statement has succeeded, or failed because of the level. */
  private isReadCommitted: boolean | undefined;

  async run<Outcome>({
    autocommit,
    inTransaction,
    isolationLevel,
  }: SendStrategies<Outcome>): Promise<Outcome> {
    if (this.isReadCommitted === false) return inTransaction();
    const isFirst = this.isReadCommitted === undefined;
    try {
      const outcome = await autocommit();
      this.isReadCommitted ??= true;
      return outcome;
    } catch (error) {
      // The statement has written nothing. Under another level, a trigger of a host may fail with
      // 40001 before the condition is evaluated, and a standby rejects SERIALIZABLE with 0A000.
      // Both codes may have other causes.
      const isCertain = hasSqlState(error, /^42704$/) && reasonOf(error).includes(MISSING_SETTING);
      const isPossible = isFirst && hasSqlState(error, /^(?:40001|0A000)$/);
      if (!isCertain && !(isPossible && (await isolationLevel()) !== 'read committed')) throw error;
      this.stop();
      return inTransaction();
    }
  }

  private stop(): void {
    if (this.isReadCommitted === false) return;
    this.isReadCommitted = false;
    this.logger.log(
      'the default isolation level is not READ COMMITTED: each create is sent with begin and commit',
    );
  }
}
