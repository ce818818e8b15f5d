import { createHash } from 'node:crypto';
import { Logger } from '@nestjs/common';
import { QueryFailedError } from 'typeorm';

/** For node-postgres: values stay the texts that the server writes. */
const TEXTS = { getTypeParser: () => (text: string) => text };

/**
 * A statement that the server parses and plans once in each session. Its rows come as arrays of texts (null stays null),
 * which node-postgres makes in less time than objects.
 */
export class PreparedStatement {
  /**
   * Differs where the text differs: in a session of a pooler another version of this software may have prepared its
   * own.
   */
  readonly name: string;
  private readonly rowMode = 'array';
  private readonly types = TEXTS;

  /**
   * The plan may be as old as the session, so it must not depend on how full a table is. The columns of the result must
   * be named: they cannot change later.
   */
  constructor(readonly text: string) {
    this.name = createHash('sha256').update(text).digest('hex').slice(0, 32);
  }

  // TypeORM hands over what stands in the place of a text, and node-postgres knows such objects.

  /** As a text, for a session that lasts. */
  get prepared(): string {
    return this as unknown as string;
  }

  /** As a text, for a session that may change at any time. */
  get unprepared(): string {
    const { text, rowMode, types } = this;
    return { text, rowMode, types } as unknown as string;
  }
}

/**
 * SQLSTATEs of a session that does not know a prepared statement, or knew it already: invalid SQL statement name and
 * duplicate prepared statement (PostgreSQL, appendix A).
 */
const OF_ANOTHER_SESSION = ['26000', '42P05'];

/** Sends statements as prepared ones, until it is seen that a pooler changes the sessions between them. */
export class PreparedStatements {
  private readonly logger = new Logger(PreparedStatements.name);
  private areKept = true;

  /** Runs a statement by what takes texts. */
  async run<Result>(
    statement: PreparedStatement | string,
    run: (sql: string) => Promise<Result>,
  ): Promise<Result> {
    if (typeof statement === 'string') return run(statement);
    if (this.areKept) {
      try {
        return await run(statement.prepared);
      } catch (error) {
        // Nothing was done: the server refuses before it runs the statement.
        if (!isOfAnotherSession(error)) throw error;
        this.giveUp();
      }
    }
    return run(statement.unprepared);
  }

  private giveUp(): void {
    if (!this.areKept) return;
    this.areKept = false;
    this.logger.log('a pooler changes sessions: statements are no longer prepared');
  }
}

function isOfAnotherSession(error: unknown): boolean {
  if (!(error instanceof QueryFailedError)) return false;
  return OF_ANOTHER_SESSION.includes(String((error.driverError as { code?: unknown }).code));
}
