/** The scope for reading time logs. */
export const READ = 'time-logs:read';
/** The scope for recording time logs. */
export const WRITE = 'time-logs:write';
/** The scope for correcting and deleting time logs. */
export const CORRECT = 'time-logs:correct';

/** The scopes of the module, explained in the OpenAPI document. New tokens get the default ones. */
export const timeLogScopes = [
  { name: READ, isDefault: true },
  { name: WRITE, isDefault: true },
  { name: CORRECT, isForFirstToken: true },
];
