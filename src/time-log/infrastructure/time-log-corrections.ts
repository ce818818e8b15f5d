import { type Database, type Statements, TextStatement } from '../../database/index.js';
import type { TimeLogAccess } from '../domain/time-log-query.js';
import { TimeLogChangedError } from '../domain/time-log.repository.js';
import { TimeLog } from '../domain/time-log.js';
import type { TimeLogRows } from './time-log-rows.js';
import { NotStoredError } from './storage-errors.js';
import { accessCondition, type Bind, newParameters } from './time-log-conditions.js';

/**
 * Corrects and deletes logs. A change occupies a connection while it waits for a locked log, so changes
 * run in a queue that leaves the other connections to creates and lists.
 */
export class TimeLogCorrections {
  constructor(
    private readonly database: Database,
    private readonly rows: TimeLogRows,
  ) {}

  /**
   * Resolves with the stored log, or undefined if it does not exist within the access. Columns whose value does not
   * change keep their stored digits, and a correction that changes nothing writes nothing. Otherwise the row is locked,
   * and its latest version checked: it may have been moved, or may differ from `expected`. Not prepared: a plan made
   * while the table was empty would later read all of it.
   */
  async correct(
    log: TimeLog,
    access: TimeLogAccess,
    expected?: TimeLog,
    statements: Statements = this.database,
  ): Promise<TimeLog | undefined> {
    const { valueNames } = this.rows;
    const { parameters, bind } = newParameters();
    const isAllowed = accessCondition(access, bind);
    const values = this.rows.replacements('log', log, expected, bind);
    const version = `log as version, (${valueNames}) is distinct from (${values}) as differs,
                     ${this.isUnexpected(expected, bind)} as is_unexpected`;
    const statement = new TextStatement(
      `with seen as materialized (
         select id, ${version} from ${this.table} log
          where id = ${bind(log.id)} and ${isAllowed}
       ), found as materialized (
         select log.id, ${version} from seen join ${this.table} log on log.id = seen.id
          where seen.differs and not seen.is_unexpected and ${isAllowed}
            for no key update of log
       ), corrected as (
         update ${this.table} log set (${valueNames}) = row(${values})
           from found where log.id = found.id and found.differs and not found.is_unexpected returning log.id, log as version
       ), outcome as (
         select found.is_unexpected, found.differs and corrected.id is null as is_dropped,
                coalesce(corrected.version, found.version) as version from found left join corrected using (id)
          union all select is_unexpected, false, version from seen where not differs or is_unexpected
       )
       select ${this.rows.selection('version')}, is_unexpected::text, is_dropped::text from outcome`,
    );
    const [row] = await statements.change(statement, parameters);
    const [isUnexpected, isDropped] = row?.slice(-2) ?? [];
    if (isUnexpected === 'true') throw new TimeLogChangedError();
    if (isDropped === 'true') throw new NotStoredError();
    return row && this.rows.log(row);
  }

  /** Resolves with the deleted log, or undefined if it does not exist within the access. */
  async delete(
    id: string,
    access: TimeLogAccess,
    expected?: TimeLog,
    statements: Statements = this.database,
  ): Promise<TimeLog | undefined> {
    const { parameters, bind } = newParameters();
    const statement = new TextStatement(
      `with found as materialized (
         select id, ${this.isUnexpected(expected, bind)} as is_unexpected from ${this.table} log
          where id = ${bind(id)} and ${accessCondition(access, bind)} for update
       ), deleted as (
         delete from ${this.table} log using found where log.id = found.id and not is_unexpected returning log.*
       )
       select ${this.rows.selection('deleted')}, is_unexpected::text from found left join deleted using (id)`,
    );
    const [row] = await statements.change(statement, parameters);
    if (row?.at(-1) === 'true') throw new TimeLogChangedError();
    // The id comes first. It is null if the row was found but not deleted.
    if (row?.[0] === null) throw new NotStoredError();
    return row && this.rows.log(row);
  }

  private isUnexpected(expected: TimeLog | undefined, bind: Bind): string {
    return expected ? this.rows.differs('log', expected, bind) : 'false';
  }

  private get table(): string {
    return this.database.table(TimeLog);
  }
}
