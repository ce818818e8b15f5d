import { TimeLogCounts } from '../time-log/index.js';
import { UsageError } from './command-line.js';
import { type BadNews, type Command, runAsProgram } from './run-command.js';
import { withFunctions } from './with-functions.js';

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
    return withFunctions(call, 'counts', (database) => {
      // Each is one statement, of which PostgreSQL does not tell how far it is.
      call.progress.show(`${name}: reads all logs`);
      return act(new TimeLogCounts(database));
    });
  },
};

await runAsProgram(import.meta.filename, countsCommand);
