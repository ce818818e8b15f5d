import type { DataSource } from 'typeorm';
import { entities, migrations } from '../app.module.js';
import { codeOf, migrate, openDataSource, plainOptions, requireAllRows } from '../database/setup/index.js';
import { Database } from '../database/index.js';
import { type BadNews, type Call, withDatabase } from './run-command.js';

/** SQLSTATE: there is no such function. */
const UNDEFINED_FUNCTION = '42883';

/**
 * Does what functions of the configured database do, by the role that owns them. Where they are missing, the error
 * names `what` they keep.
 */
export function withFunctions(
  call: Call,
  what: string,
  act: (database: Database, dataSource: DataSource) => Promise<string | BadNews>,
): Promise<string | BadNews> {
  return withDatabase(call, async ({ migrationUrl: url, migrationSetting: setting }, { databaseUrl }) => {
    // Only the service and `npm run migrate` change the schema of an external database.
    if (databaseUrl === undefined) await migrate({ url, migrations });
    const dataSource = await openDataSource({ ...plainOptions(url), entities, poolSize: 2 }, setting);
    try {
      await requireAllRows(dataSource, setting);
      return await act(new Database(dataSource), dataSource);
    } catch (error) {
      if (codeOf(error) !== UNDEFINED_FUNCTION) throw error;
      throw new Error(`the database has no ${what} yet: npm run migrate makes them`, { cause: error });
    } finally {
      await dataSource.destroy();
    }
  });
}
