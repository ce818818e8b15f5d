import type { Pool } from 'pg';
import type { DataSource, QueryRunner } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';

interface Connection {
  end(): Promise<void>;
}

/** The connections of a DataSource's pool, of which those that were made before a certain moment can be replaced. */
export class Connections {
  private generation = 0;
  private readonly generations = new WeakMap<Connection, number>();

  constructor(private readonly dataSource: DataSource) {}

  /** A runner with a connection, to be released after use. Throws what the driver throws. */
  async take(): Promise<QueryRunner> {
    for (;;) {
      const runner = this.dataSource.createQueryRunner();
      const connection = (await runner.connect()) as Connection;
      const generation = this.generations.get(connection);
      if (generation === undefined) this.generations.set(connection, this.generation);
      if ((generation ?? this.generation) === this.generation) return runner;
      await this.discard(runner);
      await runner.release();
    }
  }

  /** Has the pool replace the connection of a runner: once ended it is not used for the next statement. */
  async discard(runner: QueryRunner): Promise<void> {
    const connection = (await runner.connect()) as Connection;
    connection.end().catch(() => undefined);
  }

  /** Has the pool replace all that there are, also those in use, each when it is wanted next. */
  replaceAll(): void {
    this.generation++;
  }

  /** Connections of the pool at the moment, and statements that wait for one. */
  get pool(): { readonly total: number; readonly idle: number; readonly waiting: number } {
    const { totalCount, idleCount, waitingCount } = (this.dataSource.driver as PostgresDriver).master as Pool;
    return { total: totalCount, idle: idleCount, waiting: waitingCount };
  }
}
