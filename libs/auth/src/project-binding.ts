import { Logger } from '@nestjs/common';

/** The maximum number of projects that a caller can be bound to. */
export const MAX_PROJECTS = 100;
/** A UUID of any version and variant, in any case. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const logger = new Logger('Projects');

/**
 * Returns the projects that a caller is bound to: distinct UUIDs in lower case. Anything else, and
 * more than MAX_PROJECTS, becomes the empty set, so that a mistake never gives access to all
 * projects. The log then has the reason; `source` is the name of the value there.
 */
export function parseProjectBinding(value: unknown, source: string): readonly string[] {
  const projects = projectsOrFault(value);
  if (typeof projects !== 'string') return projects;
  logger.debug(`a caller is bound to no project: ${source} ${projects}`);
  return [];
}

/**
 * Returns the projects that the code of a host has bound a caller to, as parseProjectBinding does. Throws an Error for
 * any other value, which nobody but the host can correct.
 */
export function checkProjectBinding(value: unknown): readonly string[] {
  const projects = projectsOrFault(value);
  if (typeof projects !== 'string') return projects;
  throw new Error(
    `the property projects of a caller ${projects}: return an array of at most ${MAX_PROJECTS} UUIDs, or undefined for all projects`,
  );
}

/** Returns the projects of a value, or the fault of the value. */
function projectsOrFault(value: unknown): readonly string[] | string {
  if (value === undefined) return 'is missing';
  if (!Array.isArray(value)) return 'is not an array of UUIDs';
  const isProject = (project: unknown) => typeof project === 'string' && UUID.test(project);
  // A spread makes undefined of the holes in an array, which `every` would skip.
  if (![...(value as unknown[])].every(isProject)) return 'contains a value that is not a UUID';
  const projects = new Set((value as string[]).map((project) => project.toLowerCase()));
  return projects.size > MAX_PROJECTS ? `contains more than ${MAX_PROJECTS} projects` : [...projects];
}
