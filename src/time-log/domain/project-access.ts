import { DomainError } from '../../../libs/errors/src/domain-error.js';

/** Whose logs a caller may see and change: those of all projects, or of some, whose ids are in lower case. */
export type ProjectAccess = 'all' | readonly string[];

/** The access of trusted code, and of callers who are bound to no projects. */
export const ALL_PROJECTS = 'all';

/** What a caller is told who is bound to other projects. */
export const PROJECT_REFUSED = 'the token does not allow this project';

/** Whether the logs of a project, with an id in lower case, are within an access. */
export function allows(access: ProjectAccess, projectId: string): boolean {
  return access === ALL_PROJECTS || access.includes(projectId);
}

/** Throws DomainError FORBIDDEN where the logs of a project, with an id in lower case, are not within an access. */
export function requireProject(access: ProjectAccess, projectId: string): void {
  if (!allows(access, projectId)) throw new DomainError('FORBIDDEN', PROJECT_REFUSED);
}
