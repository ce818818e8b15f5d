import { ALL_PROJECTS, attributesIn, projectsIn, type TimeLogAccess } from '../domain/time-log-access.js';
import type { TimeLogFilter } from '../domain/time-log.repository.js';

/** Returns the projects that a filter selects within an access; null means all projects. */
export function projectsOf({ projectIds }: TimeLogFilter, access: TimeLogAccess): readonly string[] | null {
  const projects = projectsIn(access);
  if (projectIds === undefined) return projects === ALL_PROJECTS ? null : projects;
  return projects === ALL_PROJECTS ? projectIds : projectIds.filter((id) => projects.includes(id));
}

/** A SQL condition on `log`, and the values of its parameters. */
interface AccessCondition {
  readonly condition: string;
  readonly parameters: readonly unknown[];
}

/** Returns the condition that a log is within an access, with parameters from `$first`. */
export function accessCondition(access: TimeLogAccess, first: number): AccessCondition {
  const projects = projectsIn(access);
  const attributes = attributesIn(access);
  const ofProjects = `($${first}::uuid[] is null or log.project_id = any($${first}))`;
  const parameters: unknown[] = [projects === ALL_PROJECTS ? null : projects];
  if (!attributes) return { condition: ofProjects, parameters };
  return {
    condition: `${ofProjects} and log.attributes @> $${first + 1}::jsonb`,
    parameters: [...parameters, JSON.stringify(attributes)],
  };
}
