import { entities, migrations, afterRestore } from '../app.module.js';
import { checkBackup, restore } from '../../libs/backup/src/index.js';
import { migrate } from '../database/setup/index.js';
import { fileOf } from './command-line.js';
import { type Command, runAsProgram, withDatabase } from './run-command.js';

export const restoreCommand: Command = {
  usage: `Usage:
  npm run restore -- FILE

Puts the data of FILE, made by npm run backup, into the configured database, whose tables must be empty. If it or the
database is killed meanwhile, run it again: where the tables then have rows, it had restored all of them.`,
  interrupted: 'interrupted: nothing was restored',
  run: async (call) => {
    const { args, progress, signal } = call;
    const report = (text: string) => progress.show(text);
    const backup = { file: fileOf(args), migrations, report, signal };
    // Faults of the settings are reported before the file is read, and faults of the file before the database is
    // touched: the start of an embedded database makes its directory.
    call.settings();
    await checkBackup(backup);
    progress.end();
    return withDatabase(call, async ({ migrationUrl: url, migrationSetting: setting }) => {
      await migrate({ url, setting, migrations, signal });
      const counts = await restore({ url, setting, entities, afterRestore, ...backup });
      const rows = Object.entries(counts).map(([table, count]) => `${table} ${count} rows`);
      return `restored ${backup.file}: ${rows.join(', ')}`;
    });
  },
};

await runAsProgram(import.meta.filename, restoreCommand);
