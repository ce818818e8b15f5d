/** A command line that is wrong; the message says why. */
export class UsageError extends Error {}

export function asksForHelp(args: readonly string[]): boolean {
  return args[0] === 'help' || args.includes('--help') || args.includes('-h');
}

/** For a command that takes no arguments. Throws UsageError where there is one. */
export function refuseArguments(args: readonly string[]): void {
  if (args.length > 0) throw new UsageError('this command takes no arguments');
}

/** The one file that a command line must name. Throws UsageError for anything else. */
export function fileOf([file, ...more]: readonly string[]): string {
  if (!file || file.startsWith('-') || more.length > 0) throw new UsageError('say which FILE');
  return file;
}
