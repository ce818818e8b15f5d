import { Injectable } from '@nestjs/common';
import { Batcher } from '../../../libs/batching/src/index.js';
import { DomainError } from '../../../libs/errors/src/index.js';
import { Database } from '../../database/index.js';
import type { Page } from '../domain/page.js';
import { type TimeLogFilter, type TimeLogPage, TimeLogRepository } from '../domain/time-log.repository.js';
import { TimeLog } from '../domain/time-log.js';

/** A row of a page; the first has the total and nothing else. */
interface Row {
  readonly total: string | null;
  readonly id: string;
  readonly project_id: string;
  readonly duration: string;
  readonly description: string;
  readonly date: string;
}

/** Logs of one statement, those that may wait for the next, and for how many milliseconds. */
const WRITES = { batch: 200, queue: 2_000, wait: 2_500 };

/** Keeps time logs in PostgreSQL. Those that come while others are being written are written together, in one commit. */
@Injectable()
export class TypeOrmTimeLogRepository extends TimeLogRepository {
  private readonly writes = new Batcher((logs: readonly TimeLog[]) => this.insert(logs), WRITES);

  constructor(private readonly database: Database) {
    super();
  }

  private get table(): string {
    return this.database.table(TimeLog);
  }

  override add(log: TimeLog): Promise<void> {
    return this.writes.add(log);
  }

  override async find({ projectId, period }: TimeLogFilter, page: Page): Promise<TimeLogPage> {
    // One statement, so that page and total are of one snapshot.
    const [first, ...rows] = await this.database.query<Row>(
      `select * from ${this.database.routine('time_log_page')}($1, $2, $3, $4, $5)`,
      [projectId, period.from, period.to, String(page.offset), page.limit],
    );
    return {
      total: Number(first!.total),
      logs: rows.map(({ id, project_id, duration, description, date }) =>
        TimeLog.restore({ id, projectId: project_id, duration: Number(duration), description, date }),
      ),
    };
  }

  /** Commits all together, or says of each why not: one that the database refuses takes no other with it. */
  private async insert(logs: readonly TimeLog[]): Promise<(Error | undefined)[]> {
    try {
      await this.database.query(
        `insert into ${this.table} (id, project_id, duration, description, date)
         select * from unnest($1::uuid[], $2::uuid[], $3::numeric[], $4::text[], $5::date[])`,
        [
          logs.map(({ id }) => id),
          logs.map(({ projectId }) => projectId),
          logs.map(({ duration }) => String(duration)),
          logs.map(({ description }) => description),
          logs.map(({ date }) => date),
        ],
      );
      return logs.map(() => undefined);
    } catch (error) {
      // Whether the database has stored them is not known, or it would not store any of them now.
      if (error instanceof DomainError || logs.length === 1) return logs.map(() => error as Error);
      const middle = logs.length >> 1;
      return [...(await this.insert(logs.slice(0, middle))), ...(await this.insert(logs.slice(middle)))];
    }
  }
}
