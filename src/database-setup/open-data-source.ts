import { DataSource, type DataSourceOptions } from 'typeorm';
import { requireUtf8 } from './encoding.js';

/** Connects to a database that can hold what is stored. Throws an Error with one clear line where it cannot be reached or is of another encoding. */
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

/** The message of an error; several addresses tried make an AggregateError without one. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join(', ');
  return error instanceof Error ? error.message : String(error);
}
