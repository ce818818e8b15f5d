import type { DataSource } from 'typeorm';

/** The database cannot store every text; the message says what to do. */
export class EncodingError extends Error {}

/** Throws EncodingError with one clear line where the encoding of the database is not UTF8. */
export async function requireUtf8(dataSource: DataSource): Promise<void> {
  const [row] = await dataSource.query<{ encoding: string }[]>(
    `select current_setting('server_encoding') as encoding`,
  );
  if (row?.encoding !== 'UTF8') {
    throw new EncodingError(
      `the encoding of the database is ${row?.encoding}, which cannot store every text: make one with create database NAME encoding 'UTF8' template template0, and name that one in DATABASE_URL`,
    );
  }
}
