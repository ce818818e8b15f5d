import { afterAll } from '@jest/globals';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { type Command, execute } from '../../src/commands/run-command.js';
import { type Config, loadConfig } from '../../src/process/config.js';
import { serve } from '../../src/process/serve.js';
import { environment } from './environment.js';
import type { Outcome } from './commands.js';

/** The service in the process of a test, with all that main.ts has it do between the settings and the exit code. */
export interface ServiceHere {
  readonly url: string;
  readonly port: number;
  readonly app: NestExpressApplication;
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
  written?: Written,
  /** Ends the start too. */
  stop?: AbortController,
  /** The limits that differ from those of the service. */
  limits: Partial<Config['limits']> = {},
): Promise<ServiceHere> {
  const config = configOf(env);
  const service = await startWith({ ...config, limits: { ...config.limits, ...limits } }, written, stop);
  running.add(service);
  return service;
}

/** Returns the configuration on loopback. Its waits for the database are longer: the test works in the same process. */
export function configOf(env: Readonly<Record<string, string>>): Config {
  const config = loadConfig(environment({ HOST: '127.0.0.1', PORT: '0', ...env }), false);
  return { ...config, limits: { ...config.limits, deadline: 10 * config.limits.deadline } };
}

/** Starts the service with a configuration. */
export async function startWith(
  config: Config,
  written: Written = { log: '', said: '' },
  stop = new AbortController(),
): Promise<ServiceHere> {
  const madeApp = nextApp();
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
    app: madeApp()!,
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
  return service;
}

/** Returns a function that returns the application that Nest has made next. */
function nextApp(): () => NestExpressApplication | undefined {
  const create = NestFactory.create.bind(NestFactory);
  let app: NestExpressApplication | undefined;
  const createOnce = async (...options: Parameters<typeof create>) => {
    Reflect.deleteProperty(NestFactory, 'create');
    return (app = await create<NestExpressApplication>(...options));
  };
  Object.assign(NestFactory, { create: createOnce });
  return () => app;
}

export type CommandName = 'backup' | 'counts' | 'drop' | 'forget' | 'migrate' | 'restore' | 'token';

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
  const commands = (await import(`../../src/commands/${name}.command.js`)) as Record<string, Command>;
  const code = await execute(commands[`${name}Command`]!, {
    args,
    settings: () => loadConfig(environment(env), false),
    signal: new AbortController().signal,
    print: lineTo('stdout'),
    printError: lineTo('stderr'),
    stderr: { write: to('stderr') },
  });
  return { code, ...written };
}
