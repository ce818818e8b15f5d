import type { DataSource } from 'typeorm';

/** Throws an Error with one clear line where the server would answer a commit before it is stored. */
export async function requireDurability(dataSource: DataSource): Promise<void> {
  const [row] = await dataSource.query<{ mode: string }[]>(
    `select current_setting('synchronous_commit') as mode`,
  );
  if (row?.mode === 'off') {
    throw new Error(
      'synchronous_commit is off, so a crash of PostgreSQL would lose logs that were answered with 201: set it to on, for this role and database too',
    );
  }
}
