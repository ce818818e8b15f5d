/** What an error says, for the log: whoever throws something else says nothing. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  // Where a name has several addresses and none answers, only what was said of each tells why.
  if (error.message === '' && error instanceof AggregateError) return error.errors.map(reasonOf).join(', ');
  return error.message;
}
