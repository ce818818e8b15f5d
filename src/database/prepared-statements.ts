import { hash } from 'node:crypto';
import { Logger } from '@nestjs/common';
import { hasSqlState } from './unavailability.js';

/** A row of a `TextStatement`. */
export type TextRow = readonly (string | null)[];

/** A type parser for node-postgres that keeps the text of each value. */
const KEEP_TEXT = { getTypeParser: () => (text: string) => text };

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

/** SQLSTATEs after a change of session: invalid statement name and duplicate prepared statement. */
const SESSION_CHANGED = /^(?:26000|42P05)$/;

/** Prepares statements, until an error shows that a pooler changes the session between them. */
export class PreparedStatements {
  private readonly logger = new Logger(PreparedStatements.name);
  private isEnabled = true;

  /** Runs a statement with a function that takes its text. */
  async run<Result>(
    statement: TextStatement | string,
    run: (sql: string) => Promise<Result>,
  ): Promise<Result> {
    if (!(statement instanceof PreparedStatement)) return run(asSql(statement));
    if (this.isEnabled) {
      try {
        return await run(asSql(statement));
      } catch (error) {
        // The server reports these errors before it runs the statement.
        if (!hasSqlState(error, SESSION_CHANGED)) throw error;
        this.disable();
      }
    }
    return run(asSql(new TextStatement(statement.text)));
  }

  private disable(): void {
    if (!this.isEnabled) return;
    this.isEnabled = false;
    this.logger.log('a pooler changes sessions: statements are no longer prepared');
  }
}

/** Converts the type: TypeORM declares only texts. */
function asSql(statement: TextStatement | string): string {
  return statement as string;
}
