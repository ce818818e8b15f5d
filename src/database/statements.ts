import { hash } from 'node:crypto';
import { Logger } from '@nestjs/common';
import type { QueryRunner } from 'typeorm';
import { reasonOf } from '../../libs/errors/src/index.js';
import { hasSqlState } from './unavailability.js';

/** SQL condition: a commit waits for less than the disk of the server and its synchronous standby. */
const IS_COMMIT_RELAXED = `current_setting('synchronous_commit') in ('off', 'local', 'remote_write')`;
/** SQL expression that makes the commit of the transaction wait for them. */
const WAIT_FOR_DISK = `set_config('synchronous_commit', 'on', true)`;

/**
 * Makes the commit of the transaction wait for the disk of the server and of its synchronous
 * standby, whatever the setting of the role. It does not change `remote_apply`, which waits for
 * more.
 */
export const RAISE_SYNCHRONOUS_COMMIT = `select ${WAIT_FOR_DISK} where ${IS_COMMIT_RELAXED}`;

/**
 * Starts a transaction with an explicit isolation level. The role, the database or the server may
 * have another default, under which concurrent creates would fail, and a pooler may lose a default
 * of the connection. It is a single message, so that it takes a single round trip.
 */
const BEGIN = `begin isolation level read committed;${RAISE_SYNCHRONOUS_COMMIT}`;

const MISSING_SETTING = 'time_logs.read_committed';
/**
 * A condition for a statement without BEGIN. It is true, and raises `synchronous_commit` as our
 * BEGIN does. Under another isolation level than READ COMMITTED it fails, because it reads a
 * setting that does not exist.
 */
const AUTOCOMMIT_CONDITION = `(
  select case when current_setting('transaction_isolation') <> 'read committed' then current_setting('${MISSING_SETTING}')
              when ${IS_COMMIT_RELAXED} then ${WAIT_FOR_DISK} else 'on' end) is not null`;

/** A row of a `TextStatement`. */
export type TextRow = readonly (string | null)[];

/** The rows of a statement, and the number of rows that it wrote or returned. */
export type Rows<Row> = Row[] & { readonly affected?: number | undefined };

/** A type parser for node-postgres that keeps the text of each value. */
const KEEP_TEXT = { getTypeParser: () => String };

/**
 * A statement whose rows are arrays of texts, which node-postgres creates faster than objects.
 * Select only types that every driver returns as text: no json, no date.
 */
export class TextStatement {
  // Options for node-postgres. TypeORM passes this object to it instead of a text.
  private readonly rowMode = 'array';
  private readonly types = KEEP_TEXT;

  constructor(readonly text: string) {}

  /** For the query log of TypeORM. */
  toString(): string {
    return this.text;
  }
}

/** A statement that the server parses and plans once in each session. */
export class PreparedStatement extends TextStatement {
  /** The hash of the text. Behind a pooler, sessions may have the statements of other versions. */
  readonly name: string;

  /**
   * The plan may be as old as the session, so it must be good for any size of the tables. List the
   * result columns by name: they must not change later.
   */
  constructor(text: string) {
    super(text);
    this.name = hash('sha256', text).slice(0, 32);
  }
}

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

/** The options of a statement that writes. */
export interface ChangeOptions {
  /** The `lock_timeout` of the statement in milliseconds, if the session has none. */
  readonly lockTimeout?: number | undefined;
  /** The `statement_timeout` of the statement in milliseconds, instead of that of the session. */
  readonly timeout?: number | undefined;
}

/** The limit of a statement that reads. */
export interface ReadLimit {
  /** The `statement_timeout` in milliseconds, instead of that of the session. */
  readonly timeout: number;
  /** The message of the error if it takes longer. */
  readonly message: string;
}

type Statement = TextStatement | string;
/** Sends one statement on the connection of a runner. */
type Send = (
  runner: QueryRunner,
  statement: Statement,
  parameters?: readonly unknown[],
) => Promise<Rows<unknown>>;

/** SQLSTATEs after a change of session: invalid statement name and duplicate prepared statement. */
const SESSION_CHANGED = /^(?:26000|42P05)$/;

/** Sends statements in the fastest way that the server, and a pooler in front of it, allow. */
export class StatementSender {
  private readonly logger = new Logger('Database');
  private isPreparing = true;
  /** Whether the default isolation level is READ COMMITTED, as far as is known. */
  private isReadCommitted = true;

  /** Sends a statement. It is prepared, until an error shows that a pooler changes the session. */
  async send(
    runner: QueryRunner,
    statement: Statement,
    parameters: readonly unknown[],
    send: Send = sendQuery,
  ): Promise<Rows<unknown>> {
    if (!(statement instanceof PreparedStatement)) return send(runner, statement, parameters);
    try {
      if (this.isPreparing) return await send(runner, statement, parameters);
    } catch (error) {
      // The server reports these errors before it runs the statement.
      if (!hasSqlState(error, SESSION_CHANGED)) throw error;
      if (this.isPreparing) this.logger.log('a pooler changes sessions: statements are no longer prepared');
      this.isPreparing = false;
    }
    return send(runner, new TextStatement(statement.text), parameters);
  }

  /**
   * Sends a statement in its own READ COMMITTED transaction. An `AutocommitStatement` without
   * timeouts is sent without BEGIN if that level is the default.
   */
  async sendChange(
    runner: QueryRunner,
    statement: Statement,
    parameters: readonly unknown[],
    { lockTimeout, timeout }: ChangeOptions = {},
  ): Promise<Rows<unknown>> {
    if (
      statement instanceof AutocommitStatement &&
      lockTimeout === undefined &&
      timeout === undefined &&
      this.isReadCommitted
    )
      try {
        return await this.send(runner, statement.autocommit, parameters);
      } catch (error) {
        // The statement has written nothing.
        if (!hasSqlState(error, /^42704$/) || !reasonOf(error).includes(MISSING_SETTING)) throw error;
        this.stopAutocommit();
      }
    return this.send(runner, statement, parameters, sendInTransaction({ lockTimeout, timeout }));
  }

  private stopAutocommit(): void {
    if (!this.isReadCommitted) return;
    this.isReadCommitted = false;
    this.logger.log(
      'the default isolation level is not READ COMMITTED: each create is sent with begin and commit',
    );
  }
}

/** Sends one statement. */
export async function sendQuery(
  runner: QueryRunner,
  statement: Statement,
  parameters: readonly unknown[] = [],
): Promise<Rows<unknown>> {
  // TypeORM declares only texts.
  const result = await runner.query(statement as string, parameters as unknown[], true);
  return withAffected(result.records as unknown[], result.affected);
}

/** Adds the number to rows. It is not enumerable, so that the rows still equal rows without it. */
export function withAffected<Row>(rows: Row[], affected: number | undefined): Rows<Row> {
  return Object.defineProperty(rows, 'affected', { value: affected });
}

/** Returns SQL that sets a timeout of the transaction, unless role, database or server set one. */
export const setTimeoutSql = (setting: 'lock_timeout' | 'statement_timeout', milliseconds: number) =>
  `select set_config('${setting}', '${milliseconds}', true) where current_setting('${setting}') = '0'`;

/** Returns SQL that replaces the timeouts of statements and of pauses in the transaction. */
export const replaceTimeoutsSql = (milliseconds: number) =>
  ['statement_timeout', 'idle_in_transaction_session_timeout']
    .map((setting) => `set local ${setting} = ${milliseconds}`)
    .join(';');

/** Returns a function that takes one round trip if the driver has `pipeline`, else three. */
function sendInTransaction({ lockTimeout, timeout }: ChangeOptions): Send {
  const begin = [
    BEGIN,
    ...(lockTimeout === undefined ? [] : [setTimeoutSql('lock_timeout', lockTimeout)]),
    ...(timeout === undefined ? [] : [replaceTimeoutsSql(timeout)]),
  ].join(';');
  return async (runner, statement, parameters) => {
    const { pipeline } = (await runner.connect()) as { pipeline?: boolean };
    const run = () => sendQuery(runner, statement, parameters);
    return pipeline ? runPipelined(runner, begin, run) : runStepByStep(runner, begin, run);
  };
}

/** Sends all three statements at once. After an error, the commit is a rollback. */
async function runPipelined<Row>(runner: QueryRunner, begin: string, run: () => Promise<Row>): Promise<Row> {
  const steps = await Promise.allSettled([runner.query(begin), run(), runner.query('commit')]);
  const failed = [steps[1], steps[0], steps[2]].find(({ status }) => status === 'rejected');
  if (failed) throw (failed as PromiseRejectedResult).reason;
  return (steps[1] as PromiseFulfilledResult<Row>).value;
}

async function runStepByStep<Row>(runner: QueryRunner, begin: string, run: () => Promise<Row>): Promise<Row> {
  await runner.query(begin);
  let rows: Row;
  try {
    rows = await run();
  } catch (error) {
    // The server rolls back a lost connection by itself.
    await runner.query('rollback').catch(() => undefined);
    throw error;
  }
  await runner.query('commit');
  return rows;
}
