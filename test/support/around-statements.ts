import type { DataSource } from 'typeorm';

/** A statement, as text or as the driver takes one that is prepared. */
type Sql = string | { readonly text: string };

/** Stands around every statement that a DataSource runs, until the returned function is called. */
export function aroundStatements(
  dataSource: DataSource,
  around: (sql: string, run: () => Promise<unknown>) => Promise<unknown>,
): () => void {
  const createQueryRunner = dataSource.createQueryRunner.bind(dataSource);
  dataSource.createQueryRunner = (mode) => {
    const runner = createQueryRunner(mode);
    const query = runner.query.bind(runner) as (sql: Sql, ...more: unknown[]) => Promise<unknown>;
    const watched = (sql: Sql, ...more: unknown[]) =>
      around(typeof sql === 'string' ? sql : sql.text, () => query(sql, ...more));
    runner.query = watched as typeof runner.query;
    return runner;
  };
  return () => {
    dataSource.createQueryRunner = createQueryRunner;
  };
}
