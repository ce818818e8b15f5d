import { TimeLogCountsCheck } from '../time-log/index.js';
import { UsageError } from './command-line.js';
import { type Command, type FailedResult, runAsProgram, withOwnerDatabase } from './run-command.js';

type CountsAction = (counts: TimeLogCountsCheck) => Promise<string | FailedResult>;

const ACTIONS: Record<string, CountsAction> = {
  verify: async (counts) => {
    const { logs, wrong } = await counts.verify();
    if (wrong === 0) return `the counts are correct: ${logs} logs`;
    return { failure: `${wrong} counts are wrong: run npm run counts -- rebuild to correct them` };
  },
  rebuild: async (counts) => `corrected ${await counts.rebuild()} counts`,
};

export const countsCommand: Command = {
  usage: `Usage:
  npm run counts -- verify    compares the counts of logs, and the sums of their durations, with the logs; exits
                              with 1 if they differ
  npm run counts -- rebuild   corrects them

Both read every log and block no other transaction: the service may be running.`,
  run: (context) => {
    const [name = '', ...more] = context.args;
    const action = more.length === 0 && Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
    if (action === undefined) throw new UsageError('specify verify or rebuild');
    return withOwnerDatabase(context, 'counts', (database) => {
      // Each action is a single statement, and PostgreSQL does not report its progress.
      context.progress.show(`${name}: reading all logs`);
      return action(new TimeLogCountsCheck(database));
    });
  },
};

await runAsProgram(import.meta.filename, countsCommand);
