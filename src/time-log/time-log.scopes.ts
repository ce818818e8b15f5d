/** The scope for reading time logs. */
export const READ = 'time-logs:read';
/** The scope for recording them. */
export const WRITE = 'time-logs:write';

/** The scope for correcting and deleting them. */
export const CORRECT = 'time-logs:correct';

/** The scopes of the module. The OpenAPI document says what each allows. New tokens get the default ones. */
export const timeLogScopes = [
  { name: READ, isDefault: true },
  { name: WRITE, isDefault: true },
  { name: CORRECT, isForFirstToken: true },
];
