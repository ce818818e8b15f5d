import { type FactoryProvider, Module } from '@nestjs/common';
import { getDataSourceToken, TypeOrmModule } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { Database } from './database.js';

/** Returns a provider of the Database of a DataSource. */
export function databaseProvider(name?: string): FactoryProvider<Database> {
  return {
    provide: Database,
    inject: [getDataSourceToken(name)],
    useFactory: (dataSource: DataSource) => new Database(dataSource),
  };
}

/** Registers entities with a DataSource that has `autoLoadEntities`. */
export function registerEntities(
  entities: Parameters<typeof TypeOrmModule.forFeature>[0],
  name?: string,
): void {
  // The returned module is not used: it needs the DataSource, which a test may not have.
  TypeOrmModule.forFeature(entities, name);
}

/** Provides Database for the default DataSource, of the service or of a host application. */
@Module({ providers: [databaseProvider()], exports: [Database] })
export class DatabaseModule {}
