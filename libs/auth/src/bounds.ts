import { Logger } from '@nestjs/common';
import type { Caller } from '../../request-state/src/index.js';
import { MAX_PROJECTS, UUID } from './project-ids.js';

/** The names of the attributes by which logs can be filtered, and callers bound. */
export const ATTRIBUTE_NAME = /^[A-Za-z][A-Za-z0-9_]{0,31}$/;
/** The maximum number of these attributes. */
const MAX_ATTRIBUTES = 8;
/** The maximum number of characters of their texts. */
export const MAX_ATTRIBUTE_LENGTH = 255;
/** The maximum magnitude of a number in an attribute: JSON.parse makes one number of several texts above it. */
export const MAX_ATTRIBUTE_NUMBER = Number.MAX_SAFE_INTEGER;

const logger = new Logger('Bounds');

/**
 * Returns the projects that a caller is bound to: distinct UUIDs in lower case. Anything else, and
 * more than MAX_PROJECTS, becomes the empty set, so that a mistake never gives access to all
 * projects. The log then has the reason; `source` is the name of the value there.
 */
export function parseProjectBinding(
  value: unknown,
  source: string,
  level: 'debug' | 'warn' = 'debug',
): readonly string[] {
  const projects = projectsOrFault(value);
  if (typeof projects !== 'string') return projects;
  logger[level](`a caller is bound to no project: ${source} ${projects}`);
  return [];
}

/** Returns the projects of a value, or the fault of the value. */
function projectsOrFault(value: unknown): readonly string[] | string {
  if (value === undefined) return 'is missing';
  if (!Array.isArray(value)) return 'is not an array of UUIDs';
  const isProject = (project: unknown) => typeof project === 'string' && UUID.test(project);
  if (!value.every(isProject)) return 'contains a value that is not a UUID';
  const projects = new Set((value as string[]).map((project) => project.toLowerCase()));
  return projects.size > MAX_PROJECTS ? `contains more than ${MAX_PROJECTS} projects` : [...projects];
}

/** Returns whether a text has more characters than an attribute may have. Pairs of surrogates are one. */
export function isTooLong(text: string): boolean {
  return text.length > MAX_ATTRIBUTE_LENGTH && Array.from(text).length > MAX_ATTRIBUTE_LENGTH;
}

/** Returns whether a caller can be bound to a value of an attribute. */
export function isAttributeValue(value: unknown): value is string | number | boolean {
  if (typeof value === 'string')
    return value !== '' && value.isWellFormed() && !value.includes('\0') && !isTooLong(value);
  return typeof value === 'boolean' || (typeof value === 'number' && Math.abs(value) <= MAX_ATTRIBUTE_NUMBER);
}

/** Returns whether a value is the values of attributes to which a caller can be bound. */
function isAttributeBinding(value: unknown): value is NonNullable<Caller['attributes']> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const entries = Object.entries(value);
  if (entries.length === 0 || entries.length > MAX_ATTRIBUTES) return false;
  return entries.every(([name, one]) => ATTRIBUTE_NAME.test(name) && isAttributeValue(one));
}

/**
 * Returns the valid bounds of a caller. One with invalid bounds, such as a number that JSON.parse may have rounded, is
 * bound to no project, and the log says why.
 */
export function validBounds({ id, projects, attributes }: Caller): Pick<Caller, 'projects' | 'attributes'> {
  if (attributes !== undefined && !isAttributeBinding(attributes)) {
    logger.warn(
      `a caller is bound to no project: its property attributes has a value that cannot bind, such as a number above ${MAX_ATTRIBUTE_NUMBER} in magnitude (${id})`,
    );
    return { projects: [], attributes: undefined };
  }
  if (projects === undefined) return { projects, attributes };
  return { projects: parseProjectBinding(projects, 'its property projects', 'warn'), attributes };
}
