import { isCalendarDate, OldTimeLogs } from '../time-log/index.js';
import { parseOptions, UsageError } from './command-line.js';
import { type Command, runAsProgram, withOwnerDatabase } from './run-command.js';

export const dropCommand: Command = {
  usage: `Usage:
  npm run drop -- DAY             deletes all logs whose date is before this day (YYYY-MM-DD). This cannot be
                                  undone, so make a backup first
  npm run drop -- DAY --publish   also publishes each deletion in the feed
  npm run drop -- DAY --dry-run   counts the logs and deletes none

Without --publish, each consumer of the feed must start again once with an empty copy, and receives no events until the
command has ended; all other logs are published to a broker again. The service may be running. If the command is
interrupted or killed, counts and feed stay correct: run it again for the remaining logs.`,
  interrupted:
    'interrupted: logs dropped so far stay dropped; counts and feed are correct; run the command again for the rest',
  run: (context) => {
    const { day, publishes, isTrial } = parse(context.args, new Date());
    return withOwnerDatabase(context, 'functions that drop logs', async (_database, dataSource) => {
      const logs = new OldTimeLogs(dataSource);
      const all = await logs.count(day);
      if (isTrial) return `${all} logs would be dropped`;
      const dropped = await logs.drop(day, {
        publishes,
        signal: context.signal,
        onProgress: (dropped) => context.progress.show(`dropped ${dropped} of ${all} logs`),
      });
      const remaining = await logs.count(day);
      if (remaining === 0) return `dropped ${dropped} logs`;
      return {
        failure: `dropped ${dropped} logs; ${remaining} remain, which other transactions locked or recorded: run the command again`,
      };
    });
  },
};

function parse(args: readonly string[], now: Date) {
  const { values, positionals } = parseOptions(args, {
    publish: { type: 'boolean' },
    'dry-run': { type: 'boolean' },
  });
  const [day, ...more] = positionals;
  if (!isCalendarDate(day) || more.length > 0) throw new UsageError('specify one DAY, such as 2020-01-31');
  if (values.publish && values['dry-run']) throw new UsageError('say --publish or --dry-run, not both');
  if (day > now.toISOString().slice(0, 10))
    throw new UsageError('the DAY must not be later than today (UTC)');
  return { day, publishes: values.publish === true, isTrial: values['dry-run'] === true };
}

await runAsProgram(import.meta.filename, dropCommand);
