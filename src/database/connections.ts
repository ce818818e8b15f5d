import type { Pool } from 'pg';
import type { DataSource, QueryRunner } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';

interface Connection {
  end(): Promise<void>;
}

/** The connection pool of a DataSource. All existing connections can be replaced at once. */
export class Connections {
  private generation = 0;
  private readonly generations = new WeakMap<Connection, number>();

  constructor(private readonly dataSource: DataSource) {}

  /** Returns a runner with a connection. Release it after use. Throws the errors of the driver. */
  async acquire(): Promise<QueryRunner> {
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

  /** Ends the connection of a runner. The pool replaces it. */
  async discard(runner: QueryRunner): Promise<void> {
    const connection = (await runner.connect()) as Connection;
    connection.end().catch(() => undefined);
  }

  /** Makes the pool replace each existing connection before its next use. */
  replaceAll(): void {
    this.generation++;
  }

  /** The number of connections in the pool, and of statements that wait for one. */
  get pool(): { readonly total: number; readonly idle: number; readonly waiting: number } {
    const { totalCount, idleCount, waitingCount } = (this.dataSource.driver as PostgresDriver).master as Pool;
    return { total: totalCount, idle: idleCount, waiting: waitingCount };
  }

  /** The maximum number of connections in the pool. */
  get max(): number {
    return ((this.dataSource.driver as PostgresDriver).master as Pool).options.max;
  }
}
