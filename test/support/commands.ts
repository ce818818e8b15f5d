import { type ChildProcess, execFile } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { environment } from './environment.js';

const PROJECT = join(import.meta.dirname, '..', '..');

export interface Outcome {
  /** Null where a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

type Running = Promise<Outcome> & { readonly child: ChildProcess };

/** Runs a compiled command in a process of its own, which can be seen meanwhile. */
export function runCommand(
  name: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  nodeOptions?: readonly string[],
): Running {
  return runProgram(join('dist', 'src', 'commands', `${name}.command.js`), args, env, nodeOptions);
}

/** The same for any program of the project. */
export function runProgram(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  nodeOptions: readonly string[] = [],
): Running {
  return run([...nodeOptions, join(PROJECT, file), ...args], environment(env));
}

/** The same for any program, with this environment alone. */
export function run(command: readonly string[], env: NodeJS.ProcessEnv): Running {
  const child = execFile(process.execPath, command, { env });
  const ended = Promise.all([text(child.stdout!), text(child.stderr!), once(child, 'exit')]);
  const outcome = ended.then(([stdout, stderr, [code]]) => ({ code: code as number | null, stdout, stderr }));
  return Object.assign(outcome, { child });
}

/** The last line that a command printed, such as the token that it made. */
export function lastLineOf({ stdout }: Outcome): string {
  return stdout.trim().split('\n').at(-1) ?? '';
}
