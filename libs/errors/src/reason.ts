/** What an error says, for the log: whoever throws something else says nothing. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown';
}
