import { TimeLogDeletions } from '../feed/index.js';
import { isCalendarDate } from '../time-log/index.js';
import { UsageError } from './command-line.js';
import { type Command, runAsProgram, withOwnerDatabase } from './run-command.js';

export const forgetCommand: Command = {
  usage: `Usage:
  npm run forget -- DAY   removes the deletions made before this day (YYYY-MM-DD, UTC) from the feed

A consumer that has not yet read these deletions must start again with an empty copy. The service may be running.`,
  run: (context) => {
    const [day, ...more] = context.args;
    if (more.length > 0 || !isCalendarDate(day)) throw new UsageError('specify a DAY, such as 2026-01-31');
    return withOwnerDatabase(
      context,
      'deletions',
      async (database) => `forgot ${await new TimeLogDeletions(database).forget(day)} deletions`,
    );
  },
};

await runAsProgram(import.meta.filename, forgetCommand);
