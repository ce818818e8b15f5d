import { Logger } from '@nestjs/common';
import { type Config, loadProcessConfig } from '../config.js';
import { messageOf, type OpenDatabase, openDatabaseForCommand } from '../database-setup/index.js';
import { asksForHelp, UsageError } from './command-line.js';
import { ProgressLine } from './progress-line.js';

/** SQLSTATE. */
const INSUFFICIENT_PRIVILEGE = '42501';

export interface Command {
  readonly usage: string;
  /** The message after SIGTERM or SIGINT has ended the command. Without it a signal ends the process at once. */
  readonly interrupted?: string;
  /** Resolves with the text to print. An error is printed in one line, and the exit code is 1. */
  readonly run: (args: string[], signal: AbortSignal, progress: ProgressLine) => Promise<string>;
}

/** Runs a command with the arguments of this process. */
export async function runCommand({ usage, interrupted, run }: Command): Promise<void> {
  const stop = new AbortController();
  // npm repeats the signal that the terminal has sent already. So a second signal does nothing.
  if (interrupted !== undefined)
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop.abort());
  const args = process.argv.slice(2);
  const progress = new ProgressLine(process.stderr);
  const note = (line: string) => progress.note(line);
  // Errors are printed once, at the end.
  Logger.overrideLogger({ log: note, warn: note, error: () => undefined });
  try {
    const text = asksForHelp(args) ? usage : await run(args, stop.signal, progress);
    progress.end();
    console.log(text);
  } catch (error) {
    progress.end();
    process.exitCode = 1;
    console.error(stop.signal.aborted ? interrupted : `${messageOf(error)}${adviceFor(error)}`);
    if (error instanceof UsageError) console.error(`\n${usage}`);
  }
}

function adviceFor(error: unknown): string {
  if ((error as { code?: unknown }).code !== INSUFFICIENT_PRIVILEGE) return '';
  return ': set MIGRATION_DATABASE_URL (DATABASE_URL, where there is none) to the role that owns the tables';
}

/** Opens the configured database for an action. An embedded one that runs already is used and left running. */
export async function withDatabase<T>(
  act: (database: OpenDatabase, config: Config) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const config = loadProcessConfig();
  const onNew = (dataDir: string) => console.error(`made a new database in ${dataDir}, where there was none`);
  const database = await openDatabaseForCommand({ ...config, log: () => undefined, onNew, signal });
  try {
    return await act(database, config);
  } finally {
    await database.close();
  }
}
