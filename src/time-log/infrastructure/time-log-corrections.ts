import type { BatcherLimits } from '../../../libs/batching/src/index.js';
import { type Database, type Statements, TextStatement } from '../../database/index.js';
import type { ProjectAccess } from '../domain/project-access.js';
import { TimeLog } from '../domain/time-log.js';
import type { TimeLogRows } from './time-log-rows.js';
import { NotStored } from './refusals.js';
import { accessValue, withinAccess } from './whose.js';

/** The part of the deadline that a change waits for who holds its log. */
const WAIT_SHARE = 0.6;

/** The most milliseconds that a change waits for who holds its log. */
export function rowWaitOf({ wait }: Pick<BatcherLimits, 'wait'>): number {
  return Math.ceil(WAIT_SHARE * wait);
}

/**
 * Corrects and deletes logs. A statement of SQL may hold logs for as long as it takes, and a change of one of them
 * waits with a connection. So these changes take places in a queue: creates and lists have the other connections.
 */
export class TimeLogCorrections {
  private readonly options: { readonly lockTimeout: number };

  constructor(
    private readonly database: Database,
    private readonly rows: TimeLogRows,
    limits: Pick<BatcherLimits, 'wait'>,
  ) {
    this.options = { lockTimeout: rowWaitOf(limits) };
  }

  /**
   * Resolves with whether there is such a log within the access. A correction that changes nothing writes nothing. Any
   * other one locks the log, then checks its newest version, so that a concurrent move to another project or deletion
   * comes before or after it. Not prepared: the plan of a session that began with an empty table would read all of it.
   */
  async correct(log: TimeLog, access: ProjectAccess, within: Statements = this.database): Promise<boolean> {
    const { valueNames, values, nextParameter } = this.rows;
    const differs = `(${valueNames}) is distinct from (${values})`;
    const statement = new TextStatement(
      `with seen as materialized (
         select id, ${differs} as differs from ${this.table}
          where id = $1 and ${withinAccess('project_id', nextParameter)}
       ), found as materialized (
         select log.id, ${differs} as differs from seen join ${this.table} log on log.id = seen.id
          where seen.differs and ${withinAccess('log.project_id', nextParameter)} for no key update of log
       ), corrected as (
         update ${this.table} log set (${valueNames}) = row(${values})
           from found where log.id = found.id and found.differs returning log.id
       )
       select (differs and corrected.id is null)::text as is_kept from found left join corrected using (id)
        union all select 'false' from seen where not differs`,
    );
    const parameters = [...this.rows.valuesOf(log), accessValue(access)];
    const [row] = await within.change(statement, parameters, this.options);
    if (row?.[0] === 'true') throw new NotStored();
    return row !== undefined;
  }

  /** Resolves with the log before its deletion, or undefined if there is no such log within the access. */
  async delete(
    id: string,
    access: ProjectAccess,
    within: Statements = this.database,
  ): Promise<TimeLog | undefined> {
    const statement = new TextStatement(
      `with found as materialized (
         select id from ${this.table} where id = $1 and ${withinAccess('project_id', 2)} for update
       ), deleted as (
         delete from ${this.table} log using found where log.id = found.id returning log.*
       )
       select ${this.rows.selection('deleted')} from found left join deleted using (id)`,
    );
    const [row] = await within.change(statement, [id, accessValue(access)], this.options);
    // The id comes first. It is missing if the row was found, and is still there.
    if (row?.[0] === null) throw new NotStored();
    return row && this.rows.log(row);
  }

  private get table(): string {
    return this.database.table(TimeLog);
  }
}
