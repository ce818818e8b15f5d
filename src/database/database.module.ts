import { type FactoryProvider, Logger, Module } from '@nestjs/common';
import { getDataSourceToken, TypeOrmModule } from '@nestjs/typeorm';
import type { DataSource, DataSourceOptions } from 'typeorm';
import { DatabaseMeasures } from './database.measures.js';
import { Database } from './database.js';

type PostgresOptions = Extract<DataSourceOptions, { type: 'postgres' }>;

/** Returns a provider of the Database of a DataSource; of undefined if there is none. */
export function databaseProvider(
  name?: string,
  options: { readonly readReplica?: boolean | undefined } = {},
): FactoryProvider<Database | undefined> {
  return {
    provide: Database,
    inject: [{ token: getDataSourceToken(name), optional: true }],
    useFactory: (dataSource?: DataSource) => {
      if (options.readReplica === true && dataSource && !hasReplicas(dataSource))
        new Logger(Database.name).warn(
          'readReplica has no effect, as the DataSource has no replicas: set its replication, or remove readReplica',
        );
      return dataSource && new Database(dataSource, options);
    },
  };
}

function hasReplicas({ options }: DataSource): boolean {
  const { replication } = options as PostgresOptions;
  return replication !== undefined && replication.slaves.length > 0;
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
@Module({ providers: [databaseProvider(), DatabaseMeasures], exports: [Database] })
export class DatabaseModule {}
