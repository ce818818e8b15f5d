import { DataSource, type DataSourceOptions } from 'typeorm';
import { connectionFault } from './connection-fault.js';
import type { PostgresOptions } from './connection-options.js';
import { requireFitDatabase } from './requirements.js';

/**
 * Connects to a database, whose URL has a setting of this name. Throws an Error with one clear line where it is out of
 * reach, or refuses, or does not suit the service.
 */
export async function openDataSource(
  options: DataSourceOptions,
  setting = 'DATABASE_URL',
): Promise<DataSource> {
  const { url = '' } = options as PostgresOptions;
  const dataSource = await new DataSource(options).initialize().catch((error: unknown) => {
    throw new Error(connectionFault(error, url, setting).message, { cause: error });
  });
  try {
    await requireFitDatabase(dataSource);
    return dataSource;
  } catch (error) {
    await dataSource.destroy();
    throw error;
  }
}
