import type { BatcherLimits } from '../../../libs/batching/src/index.js';
import { type Database, type Statements, TextStatement } from '../../database/index.js';
import type { ProjectAccess } from '../domain/project-access.js';
import { TimeLog } from '../domain/time-log.js';
import type { TimeLogRows } from './time-log-rows.js';
import { NotStoredError } from './storage-errors.js';
import { accessCondition, accessParameter } from './access-condition.js';

/** The share of the deadline that a change may wait for the lock of its log. */
const LOCK_TIMEOUT_SHARE = 0.6;

/** Returns the maximum time in milliseconds that a change waits for the lock of its log. */
export function lockTimeoutOf({ wait }: Pick<BatcherLimits, 'wait'>): number {
  return Math.ceil(LOCK_TIMEOUT_SHARE * wait);
}

/**
 * Corrects and deletes logs. A change occupies a connection while it waits for a locked log, so changes
 * run in a queue that leaves the other connections to creates and lists.
 */
export class TimeLogCorrections {
  private readonly options: { readonly lockTimeout: number };

  constructor(
    private readonly database: Database,
    private readonly rows: TimeLogRows,
    limits: Pick<BatcherLimits, 'wait'>,
  ) {
    this.options = { lockTimeout: lockTimeoutOf(limits) };
  }

  /**
   * Resolves with whether the log exists within the access. A correction that changes nothing writes
   * nothing. Any other locks the log and checks its latest version, since it may have been moved. Not
   * prepared: a plan made while the table was empty would later read all of it.
   */
  async correct(log: TimeLog, access: ProjectAccess, within: Statements = this.database): Promise<boolean> {
    const { valueNames, values, nextParameter } = this.rows;
    const differs = `(${valueNames}) is distinct from (${values})`;
    const statement = new TextStatement(
      `with seen as materialized (
         select id, ${differs} as differs from ${this.table}
          where id = $1 and ${accessCondition('project_id', nextParameter)}
       ), found as materialized (
         select log.id, ${differs} as differs from seen join ${this.table} log on log.id = seen.id
          where seen.differs and ${accessCondition('log.project_id', nextParameter)} for no key update of log
       ), corrected as (
         update ${this.table} log set (${valueNames}) = row(${values})
           from found where log.id = found.id and found.differs returning log.id
       )
       select (differs and corrected.id is null)::text as is_dropped from found left join corrected using (id)
        union all select 'false' from seen where not differs`,
    );
    const parameters = [...this.rows.valuesOf(log), accessParameter(access)];
    const [row] = await within.change(statement, parameters, this.options);
    if (row?.[0] === 'true') throw new NotStoredError();
    return row !== undefined;
  }

  /** Resolves with the deleted log, or undefined if it does not exist within the access. */
  async delete(
    id: string,
    access: ProjectAccess,
    within: Statements = this.database,
  ): Promise<TimeLog | undefined> {
    const statement = new TextStatement(
      `with found as materialized (
         select id from ${this.table} where id = $1 and ${accessCondition('project_id', 2)} for update
       ), deleted as (
         delete from ${this.table} log using found where log.id = found.id returning log.*
       )
       select ${this.rows.selection('deleted')} from found left join deleted using (id)`,
    );
    const [row] = await within.change(statement, [id, accessParameter(access)], this.options);
    // The id comes first. It is null if the row was found but not deleted.
    if (row?.[0] === null) throw new NotStoredError();
    return row && this.rows.log(row);
  }

  private get table(): string {
    return this.database.table(TimeLog);
  }
}
