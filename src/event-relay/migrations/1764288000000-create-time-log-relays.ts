import type { MigrationInterface, QueryRunner } from 'typeorm';
import { dataSourceOf, qualified } from '../../database/index.js';
import { RelayCheckpoint } from '../relay-lease.js';

export class CreateTimeLogRelays1764288000000 implements MigrationInterface {
  readonly name = 'CreateTimeLogRelays1764288000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table ${qualified(dataSourceOf(runner), 'time_log_relays', RelayCheckpoint)} (
        sink text not null,
        position bigint not null,
        id uuid not null,
        holder uuid not null,
        leased_until timestamptz not null,
        constraint time_log_relays_pkey primary key (sink)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table ${qualified(dataSourceOf(runner), 'time_log_relays', RelayCheckpoint)}`);
  }
}
