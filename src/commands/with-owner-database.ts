import type { DataSource } from 'typeorm';
import { entities, migrations } from '../app.module.js';
import { codeOf, migrate, openDataSource, plainOptions, requireAllRows } from '../database/setup/index.js';
import { Database } from '../database/index.js';
import { type CommandContext, type FailedResult, withDatabase } from './run-command.js';

/** SQLSTATE of a statement with a function or a table that does not exist. */
const UNDEFINED: readonly unknown[] = ['42883', '42P01'];

/**
 * Opens the configured database for an action, as the role that owns its functions.
 * If these or the tables are missing, the error message says that `purpose` is missing.
 */
export function withOwnerDatabase(
  context: CommandContext,
  purpose: string,
  action: (database: Database, dataSource: DataSource) => Promise<string | FailedResult>,
): Promise<string | FailedResult> {
  return withDatabase(context, async ({ migrationUrl: url, migrationSetting: setting }, config) => {
    // The schema of an external database is changed only by the service and `npm run migrate`.
    if (config.databaseUrl === undefined) await migrate({ url, migrations });
    const dataSource = await openDataSource({ ...plainOptions(url), entities, poolSize: 2 }, setting);
    try {
      await requireAllRows(dataSource, setting);
      return await action(new Database(dataSource), dataSource);
    } catch (error) {
      if (!UNDEFINED.includes(codeOf(error))) throw error;
      throw new Error(`the database has no ${purpose} yet: run npm run migrate to create them`, {
        cause: error,
      });
    } finally {
      await dataSource.destroy();
    }
  });
}
