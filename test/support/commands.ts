import { type ChildProcess, execFile } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { environment } from './environment.js';

const COMMANDS = join(import.meta.dirname, '..', '..', 'dist', 'src', 'commands');

export interface Outcome {
  /** Null where a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a compiled command in a process of its own, which can be seen meanwhile. */
export function runCommand(
  name: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  nodeOptions: readonly string[] = [],
): Promise<Outcome> & { readonly child: ChildProcess } {
  const file = join(COMMANDS, `${name}.command.js`);
  const child = execFile(process.execPath, [...nodeOptions, file, ...args], { env: environment(env) });
  const ended = Promise.all([text(child.stdout!), text(child.stderr!), once(child, 'exit')]);
  const outcome = ended.then(([stdout, stderr, [code]]) => ({ code: code as number | null, stdout, stderr }));
  return Object.assign(outcome, { child });
}

/** The last line that a command printed, such as the token that it made. */
export function lastLineOf({ stdout }: Outcome): string {
  return stdout.trim().split('\n').at(-1) ?? '';
}
