import { OldTimeLogs } from '../time-log/index.js';
import { UsageError } from './command-line.js';
import { type Command, runAsProgram } from './run-command.js';
import { withFunctions } from './with-functions.js';

export const dropCommand: Command = {
  usage: `Usage:
  npm run drop -- DAY          drops all logs of work before this day: those whose date is earlier (YYYY-MM-DD).
                               They are gone for ever, so make a backup first
  npm run drop -- DAY --tell   reports each of them in the feed, like any deletion

Without --tell whoever follows the feed must begin anew with an empty copy, once, and gets nothing before the command
has ended; to a broker all other logs are published again. The service may run and write. Interrupted or killed,
it leaves nothing half done: run it again for the rest.`,
  interrupted:
    'interrupted: what was dropped by then is gone, and counts and feed are right; run it again for the rest',
  run: (call) => {
    const { day, isTold } = readArguments(call.args, new Date());
    return withFunctions(call, 'functions that drop logs', async (_database, dataSource) => {
      const logs = new OldTimeLogs(dataSource);
      const all = await logs.count(day);
      const dropped = await logs.drop(day, {
        isTold,
        signal: call.signal,
        onProgress: (sum) => call.progress.show(`dropped ${sum} of ${all} logs`),
      });
      const left = await logs.count(day);
      if (left === 0) return `dropped ${dropped} logs`;
      return {
        badNews: `dropped ${dropped} logs; ${left} are still there, which others held, or recorded meanwhile: run it again`,
      };
    });
  },
};

function readArguments(
  args: readonly string[],
  now: Date,
): { readonly day: string; readonly isTold: boolean } {
  const [day, option, ...more] = args;
  if (!OldTimeLogs.isDay(day)) throw new UsageError('say which DAY, such as 2020-01-31');
  if ((option !== undefined && option !== '--tell') || more.length > 0)
    throw new UsageError('after the DAY comes nothing, or --tell');
  if (day > now.toISOString().slice(0, 10))
    throw new UsageError('the DAY must not be later than today (UTC)');
  return { day, isTold: option === '--tell' };
}

await runAsProgram(import.meta.filename, dropCommand);
