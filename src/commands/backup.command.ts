import 'reflect-metadata';
import { entities, migrations } from '../app.module.js';
import { loadProcessConfig } from '../config.js';
import { backup } from '../backup/index.js';
import { openDatabaseForCommand } from '../database-setup/index.js';

const USAGE = `Usage:
  npm run backup -- FILE

Saves the data of the configured database to FILE, which must not exist, whether the service runs or not.`;

const stop = new AbortController();
// npm passes on what the terminal has sent already: a second signal changes nothing.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop.abort());

const [file, ...more] = process.argv.slice(2);
if (!file || file.startsWith('-') || more.length > 0) {
  console.error(USAGE);
  process.exitCode = 1;
} else {
  try {
    console.log(await save(file));
  } catch (error) {
    const message = error instanceof Error ? error.message : error;
    console.error(stop.signal.aborted ? 'interrupted: nothing was saved' : message);
    process.exitCode = 1;
  }
}

async function save(file: string): Promise<string> {
  const { signal } = stop;
  const database = await openDatabaseForCommand({ ...loadProcessConfig(), log: () => undefined, signal });
  try {
    const counts = await backup({
      url: database.migrationUrl,
      entities,
      migrations,
      file,
      report: (line) => console.error(line),
      signal,
    });
    await database.keepOwner(file);
    const rows = Object.entries(counts).map(([table, count]) => `${table} ${count} rows`);
    return `saved ${file}: ${rows.join(', ')}`;
  } finally {
    await database.close();
  }
}
