import { type FactoryProvider, Module } from '@nestjs/common';
import { getDataSourceToken, TypeOrmModule } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { DatabaseMeasures } from './database.measures.js';
import { Database } from './database.js';

/**
 * The door to SQL of the DataSource with a name, or of the default one. Undefined where there is no such DataSource.
 */
export function databaseOf(name?: string): FactoryProvider<Database | undefined> {
  return {
    provide: Database,
    inject: [{ token: getDataSourceToken(name), optional: true }],
    useFactory: (dataSource?: DataSource) => dataSource && new Database(dataSource),
  };
}

/** Makes entities known to a DataSource that has `autoLoadEntities`. */
export function registerEntities(
  entities: Parameters<typeof TypeOrmModule.forFeature>[0],
  name?: string,
): void {
  // The module that this makes is of no use: its providers need the DataSource, which a test may lack.
  TypeOrmModule.forFeature(entities, name);
}

/** The door to SQL, for any DataSource: our own or a host's. */
@Module({ providers: [databaseOf(), DatabaseMeasures], exports: [Database] })
export class DatabaseModule {}
