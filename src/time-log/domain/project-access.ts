/** The projects whose logs a caller may read and change: all, or a list of ids in lower case. */
export type ProjectAccess = 'all' | readonly string[];

/** The access of trusted code, and of callers that are not bound to projects. */
export const ALL_PROJECTS = 'all';

/** The message for a caller that is bound to other projects. */
export const PROJECT_NOT_ALLOWED = 'the token does not allow this project';
