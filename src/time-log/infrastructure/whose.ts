import { type ProjectAccess, ALL_PROJECTS, allows } from '../domain/project-access.js';
import type { TimeLogFilter } from '../domain/time-log.repository.js';

/** The projects that a filter names within an access: one, several or none; null for all. Functions of SQL take it. */
export function projectsOf({ projectId }: TimeLogFilter, access: ProjectAccess): readonly string[] | null {
  if (projectId === undefined) return accessValue(access);
  return access === ALL_PROJECTS || allows(access, projectId) ? [projectId] : [];
}

/** A condition on the project of a log, for those of an access, in the parameter with a number. */
export function withinAccess(column: string, parameter: number): string {
  return `($${parameter}::uuid[] is null or ${column} = any($${parameter}))`;
}

/** The value of that parameter. */
export function accessValue(access: ProjectAccess): readonly string[] | null {
  return access === ALL_PROJECTS ? null : access;
}
