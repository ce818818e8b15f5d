import { migrations } from '../app.module.js';
import { migrate, openDataSource, plainOptions } from '../database-setup/index.js';
import { Database } from '../database/index.js';
import { TimeLogCounts } from '../time-log/index.js';
import { UsageError } from './command-line.js';
import { type BadNews, type Call, type Command, runAsProgram, withDatabase } from './run-command.js';

/** SQLSTATE: there is no such function. */
const UNDEFINED_FUNCTION = '42883';

type Act = (counts: TimeLogCounts) => Promise<string | BadNews>;

const ACTS: Record<string, Act> = {
  verify: async (counts) => {
    const { logs, wrong } = await counts.verify();
    if (wrong === 0) return `the counts are right: ${logs} logs`;
    return { badNews: `${wrong} counts are wrong: npm run counts -- rebuild mends them` };
  },
  rebuild: async (counts) => `mended ${await counts.rebuild()} counts`,
};

export const countsCommand: Command = {
  usage: `Usage:
  npm run counts -- verify    holds the counts of logs, and the sums of their durations, against the logs; exits
                              with 1 where they differ
  npm run counts -- rebuild   mends them

Both read every log, and nobody waits for them: the service may run and write.`,
  run: (call) => {
    const [name = '', ...more] = call.args;
    const act = more.length === 0 && Object.hasOwn(ACTS, name) ? ACTS[name] : undefined;
    if (act === undefined) throw new UsageError('say verify or rebuild');
    return withCounts(call, (counts) => {
      // Each is one statement, of which PostgreSQL does not tell how far it is.
      call.progress.show(`${name}: reads all logs`);
      return act(counts);
    });
  },
};

function withCounts(call: Call, act: Act): Promise<string | BadNews> {
  return withDatabase(call, async ({ migrationUrl: url, migrationSetting: setting }, { databaseUrl }) => {
    // Only the service and `npm run migrate` change the schema of an external database.
    if (databaseUrl === undefined) await migrate({ url, migrations });
    const dataSource = await openDataSource({ ...plainOptions(url), poolSize: 1 }, setting);
    try {
      return await act(new TimeLogCounts(new Database(dataSource)));
    } catch (error) {
      if ((error as { code?: unknown }).code !== UNDEFINED_FUNCTION) throw error;
      throw new Error('the database has no counts yet: npm run migrate makes them', { cause: error });
    } finally {
      await dataSource.destroy();
    }
  });
}

await runAsProgram(import.meta.filename, countsCommand);
