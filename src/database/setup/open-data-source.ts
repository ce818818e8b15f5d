import { DataSource, type DataSourceOptions } from 'typeorm';
import { explainConnectionError } from './connection-failure.js';
import type { PostgresOptions } from './connection-options.js';
import { requireSuitableDatabase } from './requirements.js';

/**
 * Connects to a database; `setting` is the name of the setting with its URL. Throws an Error with a
 * one-line message if it is unreachable, rejects the connection or does not suit the service.
 */
export async function openDataSource(
  options: DataSourceOptions,
  setting = 'DATABASE_URL',
): Promise<DataSource> {
  const { url = '' } = options as PostgresOptions;
  const dataSource = await new DataSource(options).initialize().catch((error: unknown) => {
    throw new Error(explainConnectionError(error, url, setting).message, { cause: error });
  });
  try {
    await requireSuitableDatabase(dataSource);
    return dataSource;
  } catch (error) {
    await dataSource.destroy();
    throw error;
  }
}
