/** The scope of what reads time logs. */
export const READ = 'time-logs:read';
/** The scope of what records them. */
export const WRITE = 'time-logs:write';

/** The scopes of the module, and what each allows; a token has the default ones where nothing else is said. */
export const timeLogScopes = [
  { name: READ, allows: 'list and get time logs', isDefault: true },
  { name: WRITE, allows: 'record time logs', isDefault: true },
];
