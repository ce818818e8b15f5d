import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { environment } from './environment.js';

const ROOT = join(import.meta.dirname, '..', '..');
/** The compiled service, as seen from the compiled form of this file, and else from its source. */
const MAIN = [join(ROOT, 'src', 'main.js')].find(existsSync) ?? join(ROOT, 'dist', 'src', 'main.js');
/**
 * Milliseconds until a service that says nothing counts as failed: less than a test has, which then tells its output.
 */
const START_LIMIT = 150_000;

/** The compiled service as a process of its own. */
export interface ServiceProcess {
  readonly url: string;
  readonly port: number;
  readonly child: ChildProcess;
  /** All that it has printed so far. */
  readonly output: () => string;
  /** Sends a signal and resolves with the exit code, or with the signal that ended it. */
  readonly end: (signal?: NodeJS.Signals) => Promise<number | NodeJS.Signals | null>;
}

/**
 * Starts `dist/src/main.js` on a free port of loopback and resolves when it listens. Throws with its output where it
 * ends instead.
 */
export async function startService(
  env: Record<string, string>,
  /** A command that runs the command behind it. */
  wrapper: readonly string[] = [],
): Promise<ServiceProcess> {
  const { child, output } = spawnService({ PORT: '0', HOST: '127.0.0.1', ...env }, wrapper);
  const port = await new Promise<number>((resolve, reject) => {
    const settle = (act: () => void) => {
      clearTimeout(timer);
      child.off('exit', fail);
      child.stdout!.off('data', look);
      act();
    };
    const fail = () => {
      settle(() => reject(new Error(`the service did not start:\n${output()}`)));
      // It may have started a PostgreSQL, which it ends first.
      child.kill();
    };
    const look = () => {
      const found = /listening on port (\d+)/.exec(output());
      if (found) settle(() => resolve(Number(found[1])));
    };
    const timer = setTimeout(fail, START_LIMIT);
    child.on('exit', fail);
    child.stdout!.on('data', look);
  });
  return { url: `http://127.0.0.1:${port}`, port, child, output, end: (signal) => endProcess(child, signal) };
}

/**
 * Resolves when all that a service without an embedded PostgreSQL has printed is read: some of it may come after its
 * end.
 */
export async function allOutputOf({ child }: Pick<ServiceProcess, 'child'>): Promise<void> {
  const streams = [child.stdout!, child.stderr!].filter((stream) => !stream.readableEnded);
  await Promise.all(streams.map((stream) => once(stream, 'end')));
}

/** Starts `dist/src/main.js` with this environment alone, and what it takes to find programs. */
export function spawnService(
  env: Record<string, string>,
  wrapper: readonly string[] = [],
): { child: ChildProcess; output: () => string } {
  const [command, ...args] = [...wrapper, process.execPath, MAIN];
  const child = spawn(command, args, {
    env: environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const chunks: string[] = [];
  child.stdout.on('data', (chunk) => chunks.push(String(chunk)));
  child.stderr.on('data', (chunk) => chunks.push(String(chunk)));
  return { child, output: () => chunks.join('') };
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
