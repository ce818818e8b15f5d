import { DataSource, type DataSourceOptions } from 'typeorm';
import { requireUtf8 } from './encoding.js';
import { messageOf } from './message.js';

/**
 * Connects to a database. Throws an Error with one clear line where it is out of reach or its encoding is not UTF8.
 */
export async function openDataSource(options: DataSourceOptions): Promise<DataSource> {
  const dataSource = await new DataSource(options).initialize().catch((error: unknown) => {
    throw new Error(`the database could not be reached: ${messageOf(error)}`, { cause: error });
  });
  try {
    await requireUtf8(dataSource);
    return dataSource;
  } catch (error) {
    await dataSource.destroy();
    throw error;
  }
}
