import type { Outcome } from './commands.js';
import { type CommandName, commands, execute, loadConfig } from './compiled.js';
import { environment } from './environment.js';

export type { CommandName } from './compiled.js';

/**
 * Runs a command in the process of the test: a process of its own takes more than a second to load the service. What a
 * process is needed for, such as signals, is seen with `runCommand`.
 */
export async function runHere(
  name: CommandName,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  /** Ends it as a signal does. */
  signal = new AbortController().signal,
): Promise<Outcome> {
  const written = { stdout: '', stderr: '' };
  const to = (stream: keyof typeof written) => (text: string) => {
    written[stream] += text;
    return true;
  };
  const lineTo = (stream: keyof typeof written) => (text: string) => void to(stream)(`${text}\n`);
  const code = await execute(commands[name], {
    args,
    settings: () => loadConfig(environment(env), false),
    signal,
    print: lineTo('stdout'),
    printError: lineTo('stderr'),
    stderr: { write: to('stderr') },
  });
  return { code, ...written };
}
