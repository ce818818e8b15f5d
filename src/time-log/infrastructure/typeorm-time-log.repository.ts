import { Injectable } from '@nestjs/common';
import { Database } from '../../database/index.js';
import type { Page } from '../domain/page.js';
import { type TimeLogFilter, type TimeLogPage, TimeLogRepository } from '../domain/time-log.repository.js';
import { TimeLog } from '../domain/time-log.js';

/** A row of a list; every row carries the total, and where the page is empty one row carries nothing else. */
interface Row {
  readonly total: string;
  readonly id: string | null;
  readonly project_id: string;
  readonly duration: string;
  readonly description: string;
  readonly date: string;
}

/** Keeps time logs in PostgreSQL. */
@Injectable()
export class TypeOrmTimeLogRepository extends TimeLogRepository {
  constructor(private readonly database: Database) {
    super();
  }

  private get table(): string {
    return this.database.table(TimeLog);
  }

  override async add({ id, projectId, duration, description, date }: TimeLog): Promise<void> {
    await this.database.query(
      `insert into ${this.table} (id, project_id, duration, description, date) values ($1, $2, $3, $4, $5)`,
      [id, projectId, String(duration), description, date],
    );
  }

  override async find(filter: TimeLogFilter, page: Page): Promise<TimeLogPage> {
    const { conditions, parameters } = where(filter);
    const [limit, offset] = [`$${parameters.length + 1}`, `$${parameters.length + 2}`];
    // One statement, so that page and total are of one snapshot.
    const rows = await this.database.query<Row>(
      `select counted.total, page.*
         from (select count(*) as total from ${this.table} ${conditions}) counted
         left join (
           select id, project_id, duration, description, to_char(date, 'YYYY-MM-DD') as date
             from ${this.table} log ${conditions}
            order by log.date desc, id desc
            limit ${limit} offset ${offset}
         ) page on true
        order by page.date desc, page.id desc`,
      [...parameters, page.limit, String(page.offset)],
    );
    return {
      total: Number(rows[0]?.total),
      logs: rows
        .filter(({ id }) => id !== null)
        .map((row) =>
          TimeLog.restore({
            id: row.id!,
            projectId: row.project_id,
            duration: Number(row.duration),
            description: row.description,
            date: row.date,
          }),
        ),
    };
  }
}

function where({ projectId, period: { from, to } }: TimeLogFilter): {
  conditions: string;
  parameters: string[];
} {
  const given = [
    ['project_id =', projectId],
    ['date >=', from],
    ['date <=', to],
  ].filter((condition): condition is [string, string] => condition[1] !== undefined);
  const conditions = given.map(([comparison], index) => `${comparison} $${index + 1}`).join(' and ');
  return { conditions: conditions && `where ${conditions}`, parameters: given.map(([, value]) => value) };
}
