import { hash } from 'node:crypto';
import { Logger } from '@nestjs/common';
import { hasState } from './unavailability.js';

/** A row of a `TextStatement`. */
export type TextRow = readonly (string | null)[];

/** For node-postgres: values stay the texts that the server writes. */
const TEXTS = { getTypeParser: () => (text: string) => text };

/**
 * A statement whose rows come as arrays of texts, which node-postgres makes in less time than objects. What is selected
 * must be a text in any driver: no json, no date.
 */
export class TextStatement {
  // What follows is for node-postgres. TypeORM hands it over in the place of a text.
  private readonly rowMode = 'array';
  private readonly types = TEXTS;

  constructor(readonly text: string) {}

  /** For TypeORM's own log. */
  toString(): string {
    return this.text;
  }
}

/** One that the server parses and plans once in each session. */
export class PreparedStatement extends TextStatement {
  /**
   * Differs where the text differs: in a session of a pooler another version of this software may have prepared its
   * own.
   */
  readonly name: string;

  /**
   * The plan may be as old as the session, so it must not depend on how full a table is. The columns of the result must
   * be named: they cannot change later.
   */
  constructor(text: string) {
    super(text);
    this.name = hash('sha256', text).slice(0, 32);
  }
}

/**
 * SQLSTATEs of a session that does not know a prepared statement, or knew it already: invalid SQL statement name and
 * duplicate prepared statement (PostgreSQL, appendix A).
 */
const OF_ANOTHER_SESSION = /^(?:26000|42P05)$/;

/** Sends statements as prepared ones, until it is seen that a pooler changes the sessions between them. */
export class PreparedStatements {
  private readonly logger = new Logger(PreparedStatements.name);
  private areKept = true;

  /** Runs a statement by what takes texts. */
  async run<Result>(
    statement: TextStatement | string,
    run: (sql: string) => Promise<Result>,
  ): Promise<Result> {
    if (!(statement instanceof PreparedStatement)) return run(asSql(statement));
    if (this.areKept) {
      try {
        return await run(asSql(statement));
      } catch (error) {
        // Nothing was done: the server refuses before it runs the statement.
        if (!hasState(error, OF_ANOTHER_SESSION)) throw error;
        this.giveUp();
      }
    }
    return run(asSql(new TextStatement(statement.text)));
  }

  private giveUp(): void {
    if (!this.areKept) return;
    this.areKept = false;
    this.logger.log('a pooler changes sessions: statements are no longer prepared');
  }
}

/** TypeORM's types know texts only. */
function asSql(statement: TextStatement | string): string {
  return statement as string;
}
