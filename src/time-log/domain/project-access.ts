import { DomainError } from '../../../libs/errors/src/domain-error.js';

/** The projects whose logs a caller may read and change: all, or a list of ids in lower case. */
export type ProjectAccess = 'all' | readonly string[];

/** The access of trusted code, and of callers that are not bound to projects. */
export const ALL_PROJECTS = 'all';

/** The message for a caller that is bound to other projects. */
export const PROJECT_NOT_ALLOWED = 'the token does not allow this project';

/** Returns whether an access includes a project. The id is in lower case. */
export function allows(access: ProjectAccess, projectId: string): boolean {
  return access === ALL_PROJECTS || access.includes(projectId);
}

/** Throws DomainError FORBIDDEN unless the access includes the project. The id is in lower case. */
export function requireProject(access: ProjectAccess, projectId: string): void {
  if (!allows(access, projectId)) throw new DomainError('FORBIDDEN', PROJECT_NOT_ALLOWED);
}
