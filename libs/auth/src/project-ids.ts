/** A regular expression for any UUID in 8-4-4-4-12 hex form, with any version and variant. */
export const UUID_PATTERN = '[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}';
export const UUID = new RegExp(`^${UUID_PATTERN}$`);

/** The maximum number of projects of a filter, and of those that a caller can be bound to. */
export const MAX_PROJECTS = 100;
