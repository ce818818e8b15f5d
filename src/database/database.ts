import { Injectable, Logger } from '@nestjs/common';
import type { Pool } from 'pg';
import { DataSource, type QueryRunner } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { DomainError, ERROR_KINDS } from '../../libs/errors/src/index.js';
import { qualified } from './qualified.js';
import { isSilence, isUnavailability } from './unavailability.js';

/** The one door to SQL: TypeORM's DataSource, with its failures told apart. */
@Injectable()
export class Database {
  private readonly logger = new Logger(Database.name);
  private isAway = false;
  /** On the clock of `performance`. */
  private changedAt = -Infinity;

  constructor(private readonly dataSource: DataSource) {}

  /** Runs one statement. Throws DomainError SERVICE_UNAVAILABLE where the database cannot take it at the moment. */
  async query<Row>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    const begun = performance.now();
    const runner = this.dataSource.createQueryRunner();
    try {
      const rows = (await runner.query(sql, parameters as unknown[])) as Row[];
      if (this.isAway) this.note(begun);
      return rows;
    } catch (error) {
      if (!isUnavailability(error)) throw error;
      if (!this.isAway) this.note(begun, error);
      if (isSilence(error)) await discardConnection(runner);
      throw new DomainError('SERVICE_UNAVAILABLE', ERROR_KINDS.SERVICE_UNAVAILABLE.message, { cause: error });
    } finally {
      await runner.release();
    }
  }

  /** Connections of the pool at the moment, and statements that wait for one. */
  get pool(): { readonly total: number; readonly idle: number; readonly waiting: number } {
    const { totalCount, idleCount, waitingCount } = (this.dataSource.driver as PostgresDriver).master as Pool;
    return { total: totalCount, idle: idleCount, waiting: waitingCount };
  }

  /** The quoted name of an entity's table, with its schema where it has one. */
  table(entity: Parameters<DataSource['getMetadata']>[0]): string {
    const { schema, tableName } = this.dataSource.getMetadata(entity);
    const parts = schema === undefined ? [tableName] : [schema, tableName];
    return parts.map((part) => this.dataSource.driver.escape(part)).join('.');
  }

  /** The quoted name of a function that a migration has made. */
  routine(name: string): string {
    return qualified(this.dataSource, name);
  }

  /** One line per outage, not one per request: what began before the last change says nothing about what came after it. */
  private note(begun: number, error?: unknown): void {
    if (begun < this.changedAt) return;
    this.isAway = !this.isAway;
    this.changedAt = performance.now();
    if (this.isAway)
      this.logger.error(`database unavailable: ${error instanceof Error ? error.message : 'unknown'}`);
    else this.logger.log('database available again');
  }
}

/** A connection that said nothing in time may never speak again: once ended, the pool replaces it instead of using it for the next statement. */
async function discardConnection(runner: QueryRunner): Promise<void> {
  const connection = (await runner.connect()) as { end(): Promise<void> };
  connection.end().catch(() => undefined);
}
