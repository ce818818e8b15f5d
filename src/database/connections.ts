import type { Pool } from 'pg';
import type { DataSource, QueryRunner } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';

interface Connection {
  end(): Promise<void>;
}

/** The connections of a DataSource's pool. All that exist at one moment can be replaced. */
export class Connections {
  private generation = 0;
  private readonly generations = new WeakMap<Connection, number>();

  constructor(private readonly dataSource: DataSource) {}

  /** A runner with a connection. Release it after use. Throws what the driver throws. */
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

  /** Ends a runner's connection, so that the pool replaces it. */
  async discard(runner: QueryRunner): Promise<void> {
    const connection = (await runner.connect()) as Connection;
    connection.end().catch(() => undefined);
  }

  /** Makes the pool replace every connection that exists now, each before its next use. */
  replaceAll(): void {
    this.generation++;
  }

  /** Connections in the pool now, and statements that wait for one. */
  get pool(): { readonly total: number; readonly idle: number; readonly waiting: number } {
    const { totalCount, idleCount, waitingCount } = (this.dataSource.driver as PostgresDriver).master as Pool;
    return { total: totalCount, idle: idleCount, waiting: waitingCount };
  }

  /** The most connections that the pool makes. */
  get most(): number {
    return ((this.dataSource.driver as PostgresDriver).master as Pool).options.max;
  }
}
