import { backup } from '../backup/index.js';
import { entities, migrations } from '../app.module.js';
import { unreachedTimeLogPosition } from '../feed/index.js';
import { parseFile } from './command-line.js';
import { createFile } from './new-file.js';
import { type Command, runAsProgram, withDatabase } from './run-command.js';

export const backupCommand: Command = {
  usage: `Usage:
  npm run backup -- FILE

Saves the data of the configured database to FILE, which must not exist. The service may be running.`,
  interrupted: 'interrupted: nothing was saved',
  run: (context) => {
    const file = parseFile(context.args);
    const report = (text: string) => context.progress.show(text);
    return withDatabase(context, async (database) => {
      const { migrationUrl: url, migrationSetting: setting } = database;
      const source = { url, setting, entities, migrations, report, signal: context.signal };
      const counts = await createFile(file, (target) =>
        backup({ ...source, backupMetadata: unreachedTimeLogPosition, target }),
      );
      await database.keepOwner(file);
      const rows = Object.entries(counts).map(([table, count]) => `${table} ${count} rows`);
      return `saved ${file}: ${rows.join(', ')}`;
    });
  },
};

await runAsProgram(import.meta.filename, backupCommand);
