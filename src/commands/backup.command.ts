import { entities, migrations, note } from '../app.module.js';
import { backup } from '../backup/index.js';
import { fileOf } from './command-line.js';
import { runCommand, withDatabase } from './run-command.js';

await runCommand({
  usage: `Usage:
  npm run backup -- FILE

Saves the data of the configured database to FILE, which must not exist, whether the service runs or not.`,
  interrupted: 'interrupted: nothing was saved',
  run: (args, signal, progress) => {
    const file = fileOf(args);
    const report = (text: string) => progress.show(text);
    return withDatabase(async (database) => {
      const { migrationUrl: url, migrationSetting: setting } = database;
      const counts = await backup({ url, setting, entities, migrations, note, file, report, signal });
      await database.keepOwner(file);
      const rows = Object.entries(counts).map(([table, count]) => `${table} ${count} rows`);
      return `saved ${file}: ${rows.join(', ')}`;
    }, signal);
  },
});
