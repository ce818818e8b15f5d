import { Logger } from '@nestjs/common';

/** The most projects that a caller can be bound to. */
export const MOST_PROJECTS = 100;
/** Any version and variant, in any case. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const logger = new Logger('Projects');

/**
 * The set of projects that a caller is bound to: UUIDs in lower case, none twice. What is given may be anything. More
 * than MOST_PROJECTS, or another form, is an empty set, and the log says why: who meant to bind a caller must never
 * leave it free. `source` names for the log what was given.
 */
export function soundProjects(given: unknown, source: string): readonly string[] {
  const projects = new Set<string>();
  const fault = addTo(projects, given);
  if (fault === undefined) return [...projects];
  logger.debug(`a caller is bound to no project: ${source} ${fault}`);
  return [];
}

/** Returns what is wrong with the projects that are given. */
function addTo(projects: Set<string>, given: unknown): string | undefined {
  if (given === undefined) return 'is missing';
  if (!Array.isArray(given)) return 'is no array of UUIDs';
  for (const project of given as readonly unknown[]) {
    if (typeof project !== 'string' || !UUID.test(project)) return 'holds something other than a UUID';
    projects.add(project.toLowerCase());
    if (projects.size > MOST_PROJECTS) return `holds more than ${MOST_PROJECTS} projects`;
  }
  return undefined;
}
