import { entities, migrations, note } from '../app.module.js';
import { backup } from '../../libs/backup/src/index.js';
import { fileOf } from './command-line.js';
import { type Command, runAsProgram, withDatabase } from './run-command.js';

export const backupCommand: Command = {
  usage: `Usage:
  npm run backup -- FILE

Saves the data of the configured database to FILE, which must not exist, whether the service runs or not.`,
  interrupted: 'interrupted: nothing was saved',
  run: (call) => {
    const file = fileOf(call.args);
    const report = (text: string) => call.progress.show(text);
    return withDatabase(call, async (database) => {
      const { migrationUrl: url, migrationSetting: setting } = database;
      const counts = await backup({
        url,
        setting,
        entities,
        migrations,
        backupMetadata: note,
        file,
        report,
        signal: call.signal,
      });
      await database.keepOwner(file);
      const rows = Object.entries(counts).map(([table, count]) => `${table} ${count} rows`);
      return `saved ${file}: ${rows.join(', ')}`;
    });
  },
};

await runAsProgram(import.meta.filename, backupCommand);
