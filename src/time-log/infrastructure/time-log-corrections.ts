import type { BatcherLimits } from '../../../libs/batching/src/index.js';
import { DomainError } from '../../../libs/errors/src/index.js';
import { type Database, isReferredTo, type Statements, TextStatement } from '../../database/index.js';
import type { Access } from '../domain/access.js';
import { TimeLog } from '../domain/time-log.js';
import { REFERRED_TO } from '../domain/time-log.repository.js';
import type { TimeLogRows } from './time-log-rows.js';
import { accessValue, withinAccess } from './whose.js';

/** The part of the deadline that a change waits for who holds its log. */
const WAIT_SHARE = 0.6;

/** The most milliseconds that a change waits for who holds its log. */
export function rowWaitOf({ wait }: Pick<BatcherLimits, 'wait'>): number {
  return Math.ceil(WAIT_SHARE * wait);
}

/** What a caller is told where tables of a host refer to a log; undefined for any other error. */
export function referredTo(error: unknown): DomainError | undefined {
  return isReferredTo(error) ? new DomainError(REFERRED_TO, undefined, { cause: error }) : undefined;
}

/**
 * Corrects and deletes logs. A statement of SQL may hold logs for as long as it takes, and a change of one of them waits
 * with a connection. So these changes take places in a queue: creates and lists have the other connections.
 */
export class TimeLogCorrections {
  private readonly options: { readonly rowWait: number };

  constructor(
    private readonly database: Database,
    private readonly rows: TimeLogRows,
    limits: Pick<BatcherLimits, 'wait'>,
  ) {
    this.options = { rowWait: rowWaitOf(limits) };
  }

  /**
   * Resolves with whether the log is there, within the access. What changes nothing writes nothing. Else the newest state of the log decides: it is locked, then looked at, so
   * that whoever moves it to another project, or deletes it, comes before or after. Not prepared: the plan of a session
   * that began with an empty table would read all of it.
   */
  async correct(log: TimeLog, access: Access, within: Statements = this.database): Promise<boolean> {
    const { valueNames, values, nextParameter } = this.rows;
    const differs = `(${valueNames}) is distinct from (${values})`;
    const statement = new TextStatement(
      `with seen as materialized (
         select id, ${differs} as differs from ${this.table}
          where id = $1 and ${withinAccess('project_id', nextParameter)}
       ), found as materialized (
         select log.id from seen join ${this.table} log on log.id = seen.id
          where seen.differs and ${withinAccess('log.project_id', nextParameter)} for no key update of log
       ), corrected as (
         update ${this.table} log set (${valueNames}) = row(${values})
           from found where log.id = found.id and ${differs}
       )
       select id from found union all select id from seen where not differs`,
    );
    const parameters = [...this.rows.valuesOf(log), accessValue(access)];
    return (await within.change(statement, parameters, this.options)).length > 0;
  }

  /** Resolves with the log as it was; undefined where it was not there, within the access. */
  async delete(id: string, access: Access, within: Statements = this.database): Promise<TimeLog | undefined> {
    const statement = new TextStatement(
      `with deleted as (
         delete from ${this.table} log where id = $1 and ${withinAccess('project_id', 2)} returning log.*
       )
       select ${this.rows.selection('deleted')} from deleted`,
    );
    try {
      const [row] = await within.change(statement, [id, accessValue(access)], this.options);
      return row && this.rows.log(row);
    } catch (error) {
      throw referredTo(error) ?? error;
    }
  }

  private get table(): string {
    return this.database.table(TimeLog);
  }
}
