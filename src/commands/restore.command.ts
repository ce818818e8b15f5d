import { checkBackup, restore } from '../backup/index.js';
import { entities, migrations } from '../app.module.js';
import { migrate } from '../database/setup/index.js';
import { keepTimeLogPositions } from '../feed/index.js';
import { parseFile } from './command-line.js';
import { type Command, runAsProgram, withDatabase } from './run-command.js';

export const restoreCommand: Command = {
  usage: `Usage:
  npm run restore -- FILE

Loads FILE, made by npm run backup, into the configured database, whose tables must be empty. If the command or the
database is killed, run it again: if the tables have rows by then, everything was restored.`,
  interrupted: 'interrupted: nothing was restored',
  run: async (context) => {
    const { args, progress, signal } = context;
    const report = (text: string) => progress.show(text);
    const backup = { file: parseFile(args), migrations, report, signal };
    // Check the settings before reading the file, and the file before opening the database:
    // starting an embedded database creates its directory.
    context.settings();
    await checkBackup(backup);
    progress.end();
    return withDatabase(context, async ({ migrationUrl: url, migrationSetting: setting }) => {
      await migrate({ url, setting, migrations, signal });
      const counts = await restore({ url, setting, entities, afterRestore: keepTimeLogPositions, ...backup });
      const rows = Object.entries(counts).map(([table, count]) => `${table} ${count} rows`);
      return `restored ${backup.file}: ${rows.join(', ')}`;
    });
  },
};

await runAsProgram(import.meta.filename, restoreCommand);
