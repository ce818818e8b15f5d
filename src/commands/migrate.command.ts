import { migrations } from '../app.module.js';
import { migrate } from '../database/setup/index.js';
import { refuseArguments } from './command-line.js';
import { type Command, runAsProgram, withDatabase } from './run-command.js';

export const migrateCommand: Command = {
  usage: `Usage:
  npm run migrate

Brings the schema of the configured database up to date.`,
  run: async (context) => {
    refuseArguments(context.args);
    return withDatabase(context, async ({ migrationUrl: url, migrationSetting: setting }) => {
      const done = await migrate({ url, setting, migrations });
      return done.length === 0 ? 'nothing to migrate' : done.map((name) => `migrated ${name}`).join('\n');
    });
  },
};

await runAsProgram(import.meta.filename, migrateCommand);
