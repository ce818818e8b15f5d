import { backupCommand } from '../../src/commands/backup.command.js';
import { countsCommand } from '../../src/commands/counts.command.js';
import { dropCommand } from '../../src/commands/drop.command.js';
import { forgetCommand } from '../../src/commands/forget.command.js';
import { migrateCommand } from '../../src/commands/migrate.command.js';
import { openapiCommand } from '../../src/commands/openapi.command.js';
import { restoreCommand } from '../../src/commands/restore.command.js';
import { execute } from '../../src/commands/run-command.js';
import { tokenCommand } from '../../src/commands/token.command.js';
import { loadConfig } from '../../src/config.js';
import type { Outcome } from './commands.js';
import { environment } from './environment.js';

const COMMANDS = {
  backup: backupCommand,
  counts: countsCommand,
  drop: dropCommand,
  forget: forgetCommand,
  migrate: migrateCommand,
  openapi: openapiCommand,
  restore: restoreCommand,
  token: tokenCommand,
};
export type CommandName = keyof typeof COMMANDS;

/**
 * Runs a command in the process of the test: a process of its own takes more than a second to load the service. What a
 * process is needed for, such as signals, is seen with `runCommand`.
 */
export async function runHere(
  name: CommandName,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Outcome> {
  const written = { stdout: '', stderr: '' };
  const to = (stream: keyof typeof written) => (text: string) => {
    written[stream] += text;
    return true;
  };
  const lineTo = (stream: keyof typeof written) => (text: string) => void to(stream)(`${text}\n`);
  const code = await execute(COMMANDS[name], {
    args,
    settings: () => loadConfig(environment(env), false),
    signal: new AbortController().signal,
    print: lineTo('stdout'),
    say: lineTo('stderr'),
    stderr: { write: to('stderr') },
  });
  return { code, ...written };
}
