/** The scope for reading time logs. */
export const READ = 'time-logs:read';
/** The scope for recording them. */
export const WRITE = 'time-logs:write';

/** The scope for correcting and deleting them. */
export const CORRECT = 'time-logs:correct';

/** The scopes of the module, and what each allows. New tokens get the default ones unless told otherwise. */
export const timeLogScopes = [
  { name: READ, allows: 'list, get and sum time logs', isDefault: true },
  { name: WRITE, allows: 'record time logs', isDefault: true },
  { name: CORRECT, allows: 'correct and delete time logs', isOfFirstToken: true },
];
