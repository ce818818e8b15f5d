import { type ProjectAccess, ALL_PROJECTS } from '../domain/project-access.js';
import type { TimeLogFilter } from '../domain/time-log.repository.js';

/** Returns the projects that a filter selects within an access; null means all projects. */
export function projectsOf({ projectIds }: TimeLogFilter, access: ProjectAccess): readonly string[] | null {
  if (projectIds === undefined) return accessParameter(access);
  return access === ALL_PROJECTS ? projectIds : projectIds.filter((id) => access.includes(id));
}

/** Returns the SQL condition that a project is within the access in this parameter. */
export function accessCondition(column: string, parameter: number): string {
  return `($${parameter}::uuid[] is null or ${column} = any($${parameter}))`;
}

/** Returns the value of that parameter. */
export function accessParameter(access: ProjectAccess): readonly string[] | null {
  return access === ALL_PROJECTS ? null : access;
}
