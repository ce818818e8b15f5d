import { TimeLogDeletions } from '../feed/index.js';
import { UsageError } from './command-line.js';
import { type Command, runAsProgram } from './run-command.js';
import { withFunctions } from './with-functions.js';

export const forgetCommand: Command = {
  usage: `Usage:
  npm run forget -- DAY   forgets deletions, which the feed tells, up to the last one made before this day (YYYY-MM-DD, UTC)

Whoever follows the feed, and has not read so far, must begin anew with an empty copy. The service may run and write.`,
  run: (call) => {
    const [day, ...more] = call.args;
    if (more.length > 0 || !TimeLogDeletions.isDay(day))
      throw new UsageError('say which DAY, such as 2026-01-31');
    return withFunctions(
      call,
      'deletions',
      async (database) => `forgot ${await new TimeLogDeletions(database).forget(day)} deletions`,
    );
  },
};

await runAsProgram(import.meta.filename, forgetCommand);
