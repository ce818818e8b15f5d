import 'reflect-metadata';
import { entities, migrations } from '../app.module.js';
import { loadProcessConfig } from '../config.js';
import { checkBackup, restore } from '../backup/index.js';
import { messageOf, migrate, openDatabaseForCommand } from '../database-setup/index.js';

const USAGE = `Usage:
  npm run restore -- FILE

Puts the data of FILE, made by npm run backup, into the configured database, whose tables must be empty.`;

const stop = new AbortController();
// npm passes on what the terminal has sent already: a second signal changes nothing.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop.abort());

const [file, ...more] = process.argv.slice(2);
if (!file || file.startsWith('-') || more.length > 0) {
  console.error(USAGE);
  process.exitCode = 1;
} else {
  try {
    console.log(await load(file));
  } catch (error) {
    console.error(stop.signal.aborted ? 'interrupted: nothing was restored' : messageOf(error));
    process.exitCode = 1;
  }
}

async function load(file: string): Promise<string> {
  const { signal } = stop;
  const config = loadProcessConfig();
  const report = (line: string) => console.error(line);
  // Before anything is touched: a start of the embedded database makes its directory.
  await checkBackup({ file, migrations, report, signal });
  const database = await openDatabaseForCommand({ ...config, log: () => undefined, signal });
  try {
    const { migrationUrl: url } = database;
    await migrate({ url, migrations, signal });
    const counts = await restore({ url, entities, migrations, file, report, signal });
    const rows = Object.entries(counts).map(([table, count]) => `${table} ${count} rows`);
    return `restored ${file}: ${rows.join(', ')}`;
  } finally {
    await database.close();
  }
}
