import { Batcher, type BatcherLimits } from '../../../libs/batching/src/index.js';
import { DomainError } from '../../../libs/errors/src/index.js';
import { type Database, isReferredTo, type Statements, TextStatement } from '../../database/index.js';
import type { Access } from '../domain/access.js';
import { TimeLog } from '../domain/time-log.js';
import { REFERRED_TO } from '../domain/time-log.repository.js';
import { NEXT_PARAMETER, TIME_LOG_VALUE_NAMES, TIME_LOG_VALUES, timeLogValues } from './time-log-rows.js';
import { accessValue, withinAccess } from './whose.js';

/** The part of the pool that corrections and deletions may have. */
const POOL_SHARE = 0.5;
/** The part of the deadline that one of them waits for who holds its log. */
const WAIT_SHARE = 0.6;

/** What is to be done with one log. Resolves with whether it was there. */
type Change = () => Promise<boolean>;

/**
 * Corrects and deletes logs. A statement of SQL may hold logs for as long as it takes, and whoever changes one of
 * them waits with a connection. So in an instance corrections and deletions have lanes, which are half as many as
 * connections: creates and lists have the others. Those of one log have one lane, which they share with some other
 * logs.
 */
export class TimeLogCorrections {
  private readonly options: { readonly rowWait: number };
  private lanes: readonly Batcher<Change, boolean>[] | undefined;

  constructor(
    private readonly database: Database,
    private readonly limits: Pick<BatcherLimits, 'queue' | 'wait'>,
  ) {
    this.options = { rowWait: Math.ceil(WAIT_SHARE * limits.wait) };
  }

  /** Resolves with whether the log is there, within the access. */
  correct(log: TimeLog, access: Access, within?: Statements): Promise<boolean> {
    return within ? this.replace(log, access, within) : this.inTurn(log.id, () => this.replace(log, access));
  }

  /** Resolves with whether the log was there, within the access. */
  delete(id: string, access: Access, within?: Statements): Promise<boolean> {
    return within ? this.remove(id, access, within) : this.inTurn(id, () => this.remove(id, access));
  }

  private inTurn(id: string, change: Change): Promise<boolean> {
    const lanes = (this.lanes ??= this.makeLanes());
    // Of what is no id the database says so.
    return lanes[(Number.parseInt(id.slice(-8), 16) || 0) % lanes.length]!.add(change);
  }

  private makeLanes(): Batcher<Change, boolean>[] {
    const count = Math.floor(POOL_SHARE * this.database.poolSize) || 1;
    const limits = { batch: 1, queue: Math.ceil(this.limits.queue / count), wait: this.limits.wait };
    return Array.from({ length: count }, () => new Batcher(async ([change]) => [await change!()], limits));
  }

  /**
   * What changes nothing writes nothing. Else the newest state of the log decides: it is locked, then looked at, so
   * that whoever moves it to another project, or deletes it, comes before or after. Not prepared: the plan of a session
   * that began with an empty table would read all of it.
   */
  private async replace(log: TimeLog, access: Access, within: Statements = this.database): Promise<boolean> {
    const differs = `(${TIME_LOG_VALUE_NAMES}) is distinct from (${TIME_LOG_VALUES})`;
    const statement = new TextStatement(
      `with seen as materialized (
         select id, ${differs} as differs from ${this.table}
          where id = $1 and ${withinAccess('project_id', NEXT_PARAMETER)}
       ), found as materialized (
         select log.id from seen join ${this.table} log on log.id = seen.id
          where seen.differs and ${withinAccess('log.project_id', NEXT_PARAMETER)} for no key update of log
       ), corrected as (
         update ${this.table} log set (${TIME_LOG_VALUE_NAMES}) = row(${TIME_LOG_VALUES})
           from found where log.id = found.id and ${differs}
       )
       select id from found union all select id from seen where not differs`,
    );
    const values = [...timeLogValues(log), accessValue(access)];
    return (await within.change(statement, values, this.options)).length > 0;
  }

  private async remove(id: string, access: Access, within: Statements = this.database): Promise<boolean> {
    const statement = new TextStatement(
      `with deleted as (
         delete from ${this.table} where id = $1 and ${withinAccess('project_id', 2)} returning id
       )
       select id from deleted`,
    );
    try {
      return (await within.change(statement, [id, accessValue(access)], this.options)).length > 0;
    } catch (error) {
      throw isReferredTo(error) ? new DomainError(REFERRED_TO, undefined, { cause: error }) : error;
    }
  }

  private get table(): string {
    return this.database.table(TimeLog);
  }
}
