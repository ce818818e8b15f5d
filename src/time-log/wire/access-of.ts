import type { Caller } from '../../../libs/auth/src/index.js';
import type { Call } from '../application/call.js';
import { type Access, ALL_PROJECTS } from '../domain/access.js';

/**
 * Whose logs there are for a caller: all, unless it is bound to projects. Where a guard keeps no caller, it allows all.
 */
export function accessOf(caller: Caller | undefined): Access {
  const projects = caller?.projects;
  // A pipe of a host may rebuild the caller of a message, and make an object of the array.
  return projects === undefined ? ALL_PROJECTS : Object.values(projects);
}

/** A change that a caller asks for. */
export function callOf(caller: Caller | undefined): Call {
  return { access: accessOf(caller), caller };
}
