import { realpathSync } from 'node:fs';
import { Logger } from '@nestjs/common';
import { type Config, loadProcessConfig } from '../process/config.js';
import {
  codeOf,
  INSUFFICIENT_PRIVILEGE,
  messageOf,
  type OpenDatabase,
  openDatabaseForCommand,
} from '../database/setup/index.js';
import { EMBEDDED_DATABASES } from '../packages.js';
import { asksForHelp, UsageError } from './command-line.js';
import { ProgressLine } from './progress-line.js';

export interface Command {
  readonly usage: string;
  /** The message after SIGTERM or SIGINT has ended the command. Without it a signal ends the process at once. */
  readonly interrupted?: string;
  /** Resolves with the text to print. An error is told in one line, and the exit code is 1. */
  readonly run: (call: Call) => Promise<string | BadNews>;
}

/** What a command is called with. */
export interface Call {
  readonly args: readonly string[];
  /** Reads the settings. Throws ConfigError. */
  readonly settings: () => Config;
  /** Aborts what can be interrupted. */
  readonly signal: AbortSignal;
  readonly progress: ProgressLine;
  /** Writes a line that is no result. */
  readonly say: (line: string) => void;
}

/** A result that is printed like any other, with the exit code 1. */
export interface BadNews {
  readonly badNews: string;
}

/** Where a command reads its settings, and where it writes to. */
export interface Surroundings extends Omit<Call, 'progress'> {
  readonly print: (text: string) => void;
  readonly stderr: ConstructorParameters<typeof ProgressLine>[0];
}

/** Runs a command where its file is the program of this process. Tests call commands as they are. */
export async function runAsProgram(file: string, command: Command): Promise<void> {
  // Node tells this from version 24 on (import.meta.main).
  if (realpathSync(process.argv[1]!) !== file) return;
  const stop = new AbortController();
  // npm repeats the signal that the terminal has sent already. So a second signal does nothing.
  if (command.interrupted !== undefined)
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop.abort());
  process.exitCode = await execute(command, {
    args: process.argv.slice(2),
    settings: loadProcessConfig,
    signal: stop.signal,
    print: console.log,
    say: console.error,
    stderr: process.stderr,
  });
}

/** Runs a command. Resolves with its exit code. */
export async function execute(command: Command, { print, stderr, ...call }: Surroundings): Promise<number> {
  const { usage, interrupted, run } = command;
  const { args, signal, say } = call;
  const progress = new ProgressLine(stderr);
  const note = (line: string) => progress.note(line);
  // Errors are told once, at the end.
  Logger.overrideLogger({ log: note, warn: note, error: () => undefined });
  try {
    const result = asksForHelp(args) ? usage : await run({ ...call, progress });
    progress.end();
    print(typeof result === 'string' ? result : result.badNews);
    return typeof result === 'string' ? 0 : 1;
  } catch (error) {
    progress.end();
    say(signal.aborted && interrupted ? interrupted : `${messageOf(error)}${adviceFor(error)}`);
    if (error instanceof UsageError) say(`\n${usage}`);
    return 1;
  }
}

function adviceFor(error: unknown): string {
  if (codeOf(error) !== INSUFFICIENT_PRIVILEGE) return '';
  return ': set MIGRATION_DATABASE_URL (DATABASE_URL, where there is none) to the role that owns the tables';
}

/** Opens the configured database for an action. An embedded one that runs already is used and left running. */
export async function withDatabase<T>(
  { settings, say, signal }: Call,
  act: (database: OpenDatabase, config: Config) => Promise<T>,
): Promise<T> {
  const config = settings();
  const onNew = (dataDir: string) => say(`made a new database in ${dataDir}, where there was none`);
  const database = await openDatabaseForCommand(EMBEDDED_DATABASES, {
    ...config,
    log: () => undefined,
    onNew,
    signal,
  });
  try {
    return await act(database, config);
  } finally {
    await database.close();
  }
}
