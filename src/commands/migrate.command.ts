import type { QueryRunner } from 'typeorm';
import { migrations, readAttributes, updateIndexes } from '../app.module.js';
import { migrate } from '../database/setup/index.js';
import { refuseArguments } from './command-line.js';
import { type Command, runAsProgram, withDatabase } from './run-command.js';

export const migrateCommand: Command = {
  usage: `Usage:
  npm run migrate

Brings the schema of the configured database up to date, and the indexes of the filters in ATTRIBUTES_SCHEMA.`,
  run: async (context) => {
    refuseArguments(context.args);
    return withDatabase(context, async ({ migrationUrl: url, migrationSetting: setting }, config) => {
      const attributes = await readAttributes(config);
      const changed: string[] = [];
      const afterwards = async (runner: QueryRunner) => {
        changed.push(...(await updateIndexes(attributes, runner)));
      };
      const done = await migrate({ url, setting, migrations, afterwards });
      const lines = [...done.map((name) => `migrated ${name}`), ...changed];
      return lines.length === 0 ? 'nothing to migrate' : lines.join('\n');
    });
  },
};

await runAsProgram(import.meta.filename, migrateCommand);
