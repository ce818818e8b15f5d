import type { MigrationInterface, QueryRunner } from 'typeorm';
import { dataSourceOf, qualified } from '../../../database/index.js';

export class CreateTimeLogKeys1763856000000 implements MigrationInterface {
  readonly name = 'CreateTimeLogKeys1763856000000';

  async up(runner: QueryRunner): Promise<void> {
    const table = qualified(dataSourceOf(runner), 'time_log_keys');
    await runner.query(`
      create table ${table} (
        principal text not null,
        text text not null,
        fingerprint bytea not null,
        time_log_id uuid not null,
        created_at timestamptz(3) not null default now(),
        constraint time_log_keys_pkey primary key (principal, text)
      )`);
    await runner.query(`create index time_log_keys_created_at_idx on ${table} (created_at)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table ${qualified(dataSourceOf(runner), 'time_log_keys')}`);
  }
}
