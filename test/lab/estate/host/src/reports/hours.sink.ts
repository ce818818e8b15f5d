import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { EventSink } from 'time-logs/events';
import type { CloudEvent } from 'time-logs/feed';
import { DataSource } from 'typeorm';

/** Gets the event of every log, and keeps the hours of each: a copy that nobody's correction gets past. */
@Injectable()
export class HoursSink implements EventSink {
  readonly name = 'hours';

  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  async connect(): Promise<void> {}

  /** An event may come again, and late: what counts is the highest position of its log. */
  async publish({ id, type, subject, data }: CloudEvent): Promise<void> {
    const hours = type === 'time-log.deleted' ? 0 : data.duration;
    await this.dataSource.query(
      `insert into hours as known (log_id, project_id, hours, position) values ($1, $2, $3, $4)
       on conflict (log_id) do update set (project_id, hours, position) = (excluded.project_id, excluded.hours, excluded.position)
        where known.position < excluded.position`,
      [data.id, subject, hours, id.split('-')[0]],
    );
  }

  async close(): Promise<void> {}
}
