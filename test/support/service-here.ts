import { afterAll } from '@jest/globals';
import type { Config } from '../../src/process/config.js';
import { type CommandName, commands, execute, loadConfig, serve } from './compiled.js';
import { environment } from './environment.js';
import type { Outcome } from './commands.js';

/** The service in the process of a test, with all that main.ts has it do between the settings and the exit code. */
export interface ServiceHere {
  readonly url: string;
  readonly port: number;
  /** Its output so far. */
  readonly written: Written;
  /** Rejects with what ends it, a signal too. */
  readonly ended: Promise<void>;
  /** Ends it as a signal does, and waits for that. */
  readonly end: () => Promise<void>;
}

export interface Written {
  log: string;
  /** The output next to the log. */
  said: string;
}

/** A line of the log. */
export interface Line {
  readonly level: string;
  readonly msg: string;
  readonly [name: string]: unknown;
}

/** The lines of a log. Throws where one is no object of JSON. */
export function linesOf(log: string): Line[] {
  return log
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

/** Those that a failed test may have left behind. */
const running = new Set<ServiceHere>();
afterAll(async () => {
  for (const service of running) await service.end();
});

/**
 * Starts the service on a free port of loopback, in the process of the test: one of its own takes more than a second of
 * CPU to load it. What needs a process, such as signals, exit codes and standard output, is seen with `startService`.
 * One service at a time, and no `runHere` with tokens meanwhile: Nest has one logger, and TypeORM's module one data
 * source, for all that a process runs. Throws what ends the start.
 */
export async function startHere(
  env: Readonly<Record<string, string>>,
  written: Written = { log: '', said: '' },
  /** Ends the start too. */
  stop = new AbortController(),
  /** The limits that differ from those of the service. */
  limits: Partial<Config['limits']> = {},
): Promise<ServiceHere> {
  const given = loadConfig(environment({ HOST: '127.0.0.1', PORT: '0', ...env }), false);
  // The test works in the same process.
  const deadline = 10 * given.limits.deadline;
  const config = { ...given, limits: { ...given.limits, deadline, ...limits } };
  let ended!: Promise<void>;
  const port = await new Promise<number>((listens, fails) => {
    const log = {
      write: (line: string) => {
        written.log += line;
        const found = /listening on port (\d+)/.exec(line);
        if (found) listens(Number(found[1]));
      },
    };
    const print = (text: string) => (written.said += `${text}\n`);
    ended = serve({ config, startupMessages: [], log, print, stop });
    ended.catch(fails);
  });
  const service = {
    url: `http://127.0.0.1:${port}`,
    port,
    written,
    ended,
    end: async () => {
      running.delete(service);
      stop.abort();
      await ended.catch((error: unknown) => {
        if (error !== stop.signal.reason) throw error;
      });
    },
  };
  running.add(service);
  return service;
}

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
