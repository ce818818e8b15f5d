/** The scope for reading time logs. */
export const READ = 'time-logs:read';
/** The scope for recording time logs. */
export const WRITE = 'time-logs:write';
/** The scope for correcting and deleting time logs. */
export const CORRECT = 'time-logs:correct';
