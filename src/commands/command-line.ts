import { parseArgs, type ParseArgsConfig } from 'node:util';

/** An invalid command line. The message says why. */
export class UsageError extends Error {}

export function asksForHelp(args: readonly string[]): boolean {
  return args[0] === 'help' || args.includes('--help') || args.includes('-h');
}

/** Throws a UsageError if there are arguments. */
export function refuseArguments(args: readonly string[]): void {
  if (args.length > 0) throw new UsageError('this command takes no arguments');
}

/** Returns the options and the other arguments. Throws a UsageError for unknown options. */
export function parseOptions<T extends NonNullable<ParseArgsConfig['options']>>(
  args: readonly string[],
  options: T,
) {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/** Returns the only argument, the path of a file. Throws a UsageError for other arguments. */
export function parseFile([file, ...more]: readonly string[]): string {
  if (!file || file.startsWith('-') || more.length > 0) throw new UsageError('specify one FILE');
  return file;
}
