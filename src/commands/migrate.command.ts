import 'reflect-metadata';
import { migrations } from '../app.module.js';
import { loadProcessConfig } from '../config.js';
import { migrate, openDatabaseForCommand } from '../database-setup/index.js';

// Usage: npm run migrate. Brings the schema of the configured database up to date, and ends.
try {
  const database = await openDatabaseForCommand({ ...loadProcessConfig(), log: () => undefined });
  try {
    const done = await migrate({ url: database.migrationUrl, migrations });
    console.log(done.length === 0 ? 'nothing to migrate' : done.map((name) => `migrated ${name}`).join('\n'));
  } finally {
    await database.close();
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
