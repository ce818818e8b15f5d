import {
  ALL_PROJECTS,
  attributesIn,
  type AttributeValues,
  haveValues,
  projectsIn,
  type TimeLogAccess,
} from '../domain/time-log-access.js';
import type { TimeLogFilter } from '../domain/time-log.repository.js';

/** Returns the projects that a filter selects within an access; null means all projects. */
export function projectsOf({ projectIds }: TimeLogFilter, access: TimeLogAccess): readonly string[] | null {
  const projects = projectsIn(access);
  if (projectIds === undefined) return projects === ALL_PROJECTS ? null : projects;
  return projects === ALL_PROJECTS ? projectIds : projectIds.filter((id) => projects.includes(id));
}

/**
 * Returns the values that a filter requires within an access; undefined for none, and `'contradiction'` if no log can
 * have them.
 */
export function attributesOf(
  { attributes }: TimeLogFilter,
  access: TimeLogAccess,
): AttributeValues | undefined | 'contradiction' {
  const bound = attributesIn(access);
  if (!attributes || !bound) return attributes ?? bound;
  const all = { ...attributes, ...bound };
  return haveValues(all, attributes) ? all : 'contradiction';
}

/** A SQL condition, and the values of its parameters. */
export interface Condition {
  /** Returns the condition for the table or alias. */
  readonly of: (log: string) => string;
  readonly parameters: readonly unknown[];
}

/** Returns the condition that a log is within an access, with parameters from `$first`. */
export function accessCondition(access: TimeLogAccess, first: number): Condition {
  const projects = projectsIn(access);
  const attributes = attributesIn(access);
  return {
    of: (log) =>
      `($${first}::uuid[] is null or ${log}.project_id = any($${first}))${attributes ? ` and ${log}.attributes @> $${first + 1}::jsonb` : ''}`,
    parameters: [
      projects === ALL_PROJECTS ? null : projects,
      ...(attributes ? [JSON.stringify(attributes)] : []),
    ],
  };
}
