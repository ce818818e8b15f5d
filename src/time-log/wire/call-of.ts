import type { Caller } from '../../../libs/auth/src/index.js';
import type { CallOptions } from '../application/call.js';
import { ALL_PROJECTS } from '../domain/project-access.js';

/**
 * Returns what a caller may do: with the logs of all projects, unless it is bound to some. A guard that keeps no caller
 * allows all.
 */
export function callOf(caller: Caller | undefined): CallOptions {
  const projects = caller?.projects;
  // A pipe of a host may rebuild the caller of a message, and make an object of the array.
  return { access: projects === undefined ? ALL_PROJECTS : Object.values(projects), caller };
}
