import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { environment } from './environment.js';

const ROOT = join(import.meta.dirname, '..', '..');
/** The compiled service, as seen from the compiled form of this file, and else from its source. */
export const MAIN = [join(ROOT, 'src', 'main.js')].find(existsSync) ?? join(ROOT, 'dist', 'src', 'main.js');
/** The arguments of Node to serve as `npm start` and the image do, with a small young generation. */
export const SERVE = ['--max-semi-space-size=16', MAIN];
/** The time in milliseconds to wait for output: less than a test has, which can then report the output. */
const OUTPUT_TIMEOUT_MS = 500_000;
export const LISTENING = /listening on port (\d+)/;

/** A process, and what it prints. */
export interface Printing {
  readonly child: ChildProcess;
  /** All that it has printed so far. */
  readonly output: () => string;
  /** Resolves when it has printed something like this. Ends it and throws with its output where it does not. */
  readonly printed: (text: RegExp) => Promise<RegExpExecArray>;
}

/** The compiled service as a process of its own. */
export interface ServiceProcess extends Printing {
  readonly url: string;
  readonly port: number;
  /** Sends a signal and resolves with the exit code, or with the signal that ended it. */
  readonly end: (signal?: NodeJS.Signals) => Promise<number | NodeJS.Signals | null>;
}

/** Starts `dist/src/main.js` on a free port of loopback and resolves when it listens. */
export async function startService(
  env: Record<string, string>,
  wrapper?: readonly string[],
): Promise<ServiceProcess> {
  const service = spawnService({ PORT: '0', HOST: '127.0.0.1', ...env }, wrapper);
  const [, port] = await service.printed(LISTENING);
  const end: ServiceProcess['end'] = (signal) => endProcess(service.child, signal);
  return { ...service, url: `http://127.0.0.1:${port}`, port: Number(port), end };
}

/** Starts the compiled service with this environment alone, and what it takes to find programs. */
export function spawnService(
  env: Record<string, string>,
  /** A command that runs the command behind it. */
  wrapper: readonly string[] = [],
): Printing {
  return spawnProgram([...wrapper, process.execPath, ...SERVE], environment(env));
}

/** The same for any program, in the folder of the project and with this environment alone. */
export function spawnProgram([command = '', ...args]: readonly string[], env: NodeJS.ProcessEnv): Printing {
  const child = spawn(command, args, { env, cwd: ROOT, stdio: 'pipe' });
  const streams = [child.stdout, child.stderr];
  const chunks: string[] = [];
  for (const stream of streams) stream.on('data', (chunk) => chunks.push(String(chunk)));
  const output = () => chunks.join('');
  const printed = (text: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const settle = (act: () => void) => {
        clearTimeout(timer);
        child.off('exit', fail);
        for (const stream of streams) stream.off('data', look);
        act();
      };
      const fail = () => {
        settle(() => reject(new Error(`${text} was waited for, and this was printed:\n${output()}`)));
        // It may have started a PostgreSQL, which it ends first.
        child.kill();
      };
      const look = () => {
        const found = text.exec(output());
        if (found) settle(() => resolve(found));
      };
      const timer = setTimeout(fail, OUTPUT_TIMEOUT_MS);
      child.on('exit', fail);
      for (const stream of streams) stream.on('data', look);
      look();
    });
  return { child, output, printed };
}

/**
 * Resolves when all that a service without an embedded PostgreSQL has printed is read: some of it may come after its
 * end.
 */
export async function allOutputOf({ child }: Pick<ServiceProcess, 'child'>): Promise<void> {
  const streams = [child.stdout!, child.stderr!].filter((stream) => !stream.readableEnded);
  await Promise.all(streams.map((stream) => once(stream, 'end')));
}

/** Ends a process by its own id; resolves with its exit code, or the signal that ended it. */
export async function endProcess(
  child: ChildProcess,
  signal: NodeJS.Signals = 'SIGTERM',
): Promise<number | NodeJS.Signals | null> {
  if (child.exitCode === null && child.signalCode === null) {
    const exit = once(child, 'exit');
    child.kill(signal);
    await exit;
  }
  return child.exitCode ?? child.signalCode;
}
