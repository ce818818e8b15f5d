import { type Access, ALL_PROJECTS, allows } from '../domain/access.js';
import type { TimeLogFilter } from '../domain/time-log.repository.js';

/** Whose logs a statement reads. Functions of the database for several projects have names of their own. */
export type Whose =
  | { readonly suffix: ''; readonly project: string | undefined }
  | { readonly suffix: '_of'; readonly project: readonly string[] };

/** The projects that a filter names within an access: one, several or none of these, or all. */
export function whoseOf({ projectId }: TimeLogFilter, access: Access): Whose {
  if (access === ALL_PROJECTS) return { suffix: '', project: projectId };
  const projects = projectId === undefined ? access : [projectId].filter((id) => allows(access, id));
  return projects.length === 1 ? { suffix: '', project: projects[0] } : { suffix: '_of', project: projects };
}

/** A condition on the project of a log, for those of an access, in the parameter with a number. */
export function withinAccess(column: string, parameter: number): string {
  return `($${parameter}::uuid[] is null or ${column} = any($${parameter}))`;
}

/** The value of that parameter. */
export function accessValue(access: Access): readonly string[] | null {
  return access === ALL_PROJECTS ? null : access;
}
