import type { Attributes } from './time-log.js';

/** The values that attributes must have, by their names. Numbers are equal if their values are: 1 and 1.0. */
export type AttributeValues = Readonly<Record<string, string | number | boolean>>;

/** The values of a filter. An array must be contained. */
export type MatchedValues = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** The projects whose logs a caller may read and change: all, or a list of ids in lower case. */
export type ProjectAccess = 'all' | readonly string[];

/** The access of a caller that is bound to attributes: it is limited to logs that have all of these values. */
interface BoundAccess {
  readonly projects: ProjectAccess;
  readonly attributes: AttributeValues;
}

/** The logs that a caller may read and change. */
export type TimeLogAccess = ProjectAccess | BoundAccess;

/** The access of trusted code, and of callers that are not bound to projects. */
export const ALL_PROJECTS = 'all';

/** The messages for a caller that is bound to other projects or attributes. */
export const PROJECT_NOT_ALLOWED = 'the token does not allow this project';
export const ATTRIBUTE_NOT_ALLOWED = 'the token does not allow this attribute';

/** Returns the projects of an access. */
export function projectsIn(access: TimeLogAccess): ProjectAccess {
  return isBound(access) ? access.projects : access;
}

/** Returns the values to which an access is bound, or undefined. */
export function attributesIn(access: TimeLogAccess): AttributeValues | undefined {
  return isBound(access) ? access.attributes : undefined;
}

/** Returns whether attributes have all of these values. */
export function haveValues(attributes: Attributes | undefined, values: AttributeValues = {}): boolean {
  return Object.entries(values).every(
    ([name, value]) => attributes && Object.hasOwn(attributes, name) && attributes[name] === value,
  );
}

function isBound(access: TimeLogAccess): access is BoundAccess {
  return typeof access === 'object' && 'attributes' in access;
}
