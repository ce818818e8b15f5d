import type { MigrationInterface, QueryRunner } from 'typeorm';
import { dataSourceOf, qualified } from '../../../database/index.js';

export class CreateTimeLogs1763683200000 implements MigrationInterface {
  // TypeORM asks for a name that is not lost in a minifying build.
  readonly name = 'CreateTimeLogs1763683200000';

  async up(runner: QueryRunner): Promise<void> {
    const table = qualified(dataSourceOf(runner), 'time_logs');
    await runner.query(`
      create table ${table} (
        id uuid not null constraint time_logs_pkey primary key,
        project_id uuid not null,
        duration numeric not null,
        description text not null,
        date date not null,
        constraint time_logs_id_is_uuidv7 check (substr(id::text, 15, 1) = '7'),
        constraint time_logs_duration_is_positive check (duration > 0 and duration < 'Infinity'),
        constraint time_logs_description_is_short check (char_length(description) <= 5000),
        constraint time_logs_date_has_four_digit_year check (date between '0001-01-01' and '9999-12-31')
      )`);
    await runner.query(`create index time_logs_project_id_date_id_idx on ${table} (project_id, date, id)`);
    await runner.query(`create index time_logs_date_id_idx on ${table} (date, id)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table ${qualified(dataSourceOf(runner), 'time_logs')}`);
  }
}
