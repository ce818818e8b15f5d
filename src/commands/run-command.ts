import { realpathSync } from 'node:fs';
import { Logger } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { entities, migrations } from '../app.module.js';
import { Database } from '../database/index.js';
import {
  codeOf,
  INSUFFICIENT_PRIVILEGE,
  messageOf,
  migrate,
  type OpenDatabase,
  openDatabase,
  openDataSource,
  plainOptions,
  requireAllRows,
} from '../database/setup/index.js';
import { type Config, loadProcessConfig } from '../process/config.js';
import { asksForHelp, UsageError } from './command-line.js';
import { ProgressLine } from './progress-line.js';

/** SQLSTATE of a statement with a function or a table that does not exist. */
const UNDEFINED: readonly unknown[] = ['42883', '42P01'];

export interface Command {
  readonly usage: string;
  /** The message after SIGTERM, SIGINT or SIGHUP. Without it, a signal ends the process at once. */
  readonly interrupted?: string;
  /** Resolves with the text to print. A rejection is printed too, with the exit code 1. */
  readonly run: (context: CommandContext) => Promise<string | FailedResult>;
}

/** The arguments and services of a running command. */
export interface CommandContext {
  readonly args: readonly string[];
  /** Reads the settings. Throws a ConfigError if they are invalid. */
  readonly settings: () => Config;
  /** Aborts when the command is interrupted. */
  readonly signal: AbortSignal;
  readonly progress: ProgressLine;
  /** Writes a line to standard error. */
  readonly printError: (line: string) => void;
}

/** A result that is printed like a text, but with the exit code 1. */
export interface FailedResult {
  readonly failure: string;
}

/** The input and output of a command. */
export interface CommandEnvironment extends Omit<CommandContext, 'progress'> {
  readonly print: (text: string) => void;
  readonly stderr: ConstructorParameters<typeof ProgressLine>[0];
}

/** Runs a command if its file is the main program. Tests use `execute` instead. */
export async function runAsProgram(file: string, command: Command): Promise<void> {
  // Node 24 has import.meta.main for this.
  if (realpathSync(process.argv[1]!) !== file) return;
  const stop = new AbortController();
  // A second signal does nothing: npm repeats the signal that the terminal has already sent.
  if (command.interrupted !== undefined)
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => stop.abort());
  process.exitCode = await execute(command, {
    args: process.argv.slice(2),
    settings: loadProcessConfig,
    signal: stop.signal,
    print: console.log,
    printError: console.error,
    stderr: process.stderr,
  });
}

/** Runs a command. Resolves with its exit code. */
export async function execute(
  command: Command,
  { print, stderr, ...environment }: CommandEnvironment,
): Promise<number> {
  const { usage, interrupted, run } = command;
  const { args, signal, printError } = environment;
  // Read once: a command may ask several times, and each reading reports the file with settings.
  let config: Config | undefined;
  const settings = () => (config ??= environment.settings());
  const progress = new ProgressLine(stderr);
  const log = (line: string) => progress.printLine(line);
  // An error is printed once, at the end.
  Logger.overrideLogger({ log, warn: log, error: () => undefined });
  try {
    const result = asksForHelp(args) ? usage : await run({ ...environment, settings, progress });
    progress.end();
    print(typeof result === 'string' ? result : result.failure);
    return typeof result === 'string' ? 0 : 1;
  } catch (error) {
    progress.end();
    printError(signal.aborted && interrupted ? interrupted : `${messageOf(error)}${adviceFor(error)}`);
    if (error instanceof UsageError) printError(`\n${usage}`);
    return 1;
  }
}

function adviceFor(error: unknown): string {
  if (codeOf(error) !== INSUFFICIENT_PRIVILEGE) return '';
  return ': set MIGRATION_DATABASE_URL (or DATABASE_URL, if that is not set) to the role that owns the tables';
}

/** Opens the configured database for an action. It may attach to a running embedded one. */
export async function withDatabase<T>(
  { settings, printError, signal }: CommandContext,
  action: (database: OpenDatabase, config: Config) => Promise<T>,
): Promise<T> {
  const config = settings();
  const onNew = (dataDir: string) => printError(`created a new database in ${dataDir}`);
  const database = await openDatabase({
    ...config,
    isCommand: true,
    log: () => undefined,
    onNew,
    signal,
  });
  try {
    return await action(database, config);
  } finally {
    await database.close();
  }
}

/**
 * Opens the configured database for an action, as the role that owns its functions.
 * If these or the tables are missing, the error message says that `purpose` is missing.
 */
export function withOwnerDatabase(
  context: CommandContext,
  purpose: string,
  action: (database: Database, dataSource: DataSource) => Promise<string | FailedResult>,
): Promise<string | FailedResult> {
  return withDatabase(context, async ({ migrationUrl: url, migrationSetting: setting }, config) => {
    // The schema of an external database is changed only by the service and `npm run migrate`.
    if (config.databaseUrl === undefined) await migrate({ url, migrations });
    const dataSource = await openDataSource({ ...plainOptions(url), entities, poolSize: 2 }, setting);
    try {
      await requireAllRows(dataSource, setting);
      return await action(new Database(dataSource), dataSource);
    } catch (error) {
      if (!UNDEFINED.includes(codeOf(error))) throw error;
      throw new Error(`the database has no ${purpose} yet: run npm run migrate to create them`, {
        cause: error,
      });
    } finally {
      await dataSource.destroy();
    }
  });
}
