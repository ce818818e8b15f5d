/** Returns the message of an error, for the log; `unknown` if the value is not an Error. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  // If no address of a host name can be reached, only the errors of the addresses have a message.
  if (error.message === '' && error instanceof AggregateError) return error.errors.map(reasonOf).join(', ');
  return error.message;
}
