import { Injectable, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import { DomainError } from '../../../libs/errors/src/index.js';
import { TimeLog } from '../domain/time-log.js';
import { schemaTakenError } from './storage-errors.js';
import { timeLogEntities, TimeLogKey } from './time-log.entities.js';
import { TypeOrmTimeLogRepository } from './typeorm-time-log.repository.js';

/** The database functions that the repositories and the sweep call. */
const ROUTINES = [
  'page_time_logs',
  'fold_time_log_counts',
  'keep_time_log_positions',
  'sum_time_logs',
  'page_time_log_project_sums',
  'page_time_log_group_sums',
  'time_log_events',
  'time_log_project_events',
];

/** Prepares the repository, or ends the startup if entities, tables or functions are missing. */
@Injectable()
export class SchemaCheck implements OnModuleInit, OnApplicationBootstrap {
  constructor(private readonly repository: TypeOrmTimeLogRepository) {}

  /** Throws DomainError SERVICE_UNAVAILABLE if the database is unavailable. */
  async onModuleInit(): Promise<void> {
    await this.repository.keepPositions();
  }

  /** Throws an Error that says what to do. */
  async onApplicationBootstrap(): Promise<void> {
    const { database } = this.repository;
    if (!database.isOpen) return;
    try {
      await requireTables(this.repository);
    } catch (error) {
      // An unavailable database may be complete.
      if (!(error instanceof DomainError)) throw error;
    }
  }
}

/** Throws an Error that says what to do if entities, tables or functions are missing. */
async function requireTables({ database, rows }: TypeOrmTimeLogRepository): Promise<void> {
  if (!timeLogEntities.every((entity) => database.knows(entity)))
    throw new Error(
      'the DataSource lacks the entities of time logs: add timeLogEntities to its entities, or set autoLoadEntities and import TimeLogModule.forRoot({})',
    );
  const tables = timeLogEntities.map((entity) => database.table(entity));
  const [row] = await database.query<{ isWhole: boolean; isTaken: boolean }>(
    `select not exists (select from unnest($1::text[]) name where to_regclass(name) is null)
        and not exists (select from unnest($2::text[]) name where to_regproc(name) is null)
        and (not $5 or exists (
          select from pg_attribute where attrelid = to_regclass($3) and attname = 'attributes'))
        and exists (
          select from pg_attribute where attrelid = to_regclass($6) and attname = 'logs') as "isWhole",
        to_regclass($3) is null and exists (
          select from pg_class where relname = 'time_logs_pkey' and relnamespace::regnamespace::text =
            coalesce(quote_ident($4), quote_ident(current_schema()))) as "isTaken"`,
    [
      tables,
      ROUTINES.map((name) => database.routine(name)),
      database.table(TimeLog),
      database.schema,
      rows.haveAttributes,
      database.table(TimeLogKey),
    ],
  );
  if (row!.isWhole) return;
  if (row!.isTaken) throw schemaTakenError();
  throw new Error(
    'the database lacks tables or functions of time logs: add timeLogMigrations to the migrations of the DataSource, and run them',
  );
}
