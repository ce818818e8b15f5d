import type { TimeLogAccess, TimeLogFilter } from '../domain/time-log-query.js';

/** Appends a parameter to a statement, and returns its SQL. */
export type Bind = (value: unknown) => string;

/** Returns the parameters of a statement, none as yet. */
export function newParameters(): { readonly parameters: unknown[]; readonly bind: Bind } {
  const parameters: unknown[] = [];
  return { parameters, bind: (value) => `$${parameters.push(value)}` };
}

/**
 * Returns the condition on the attributes of `log` that a filter and an access make; undefined if they make none.
 * Both must hold: a filter never replaces a bound. Jsonb compares numbers by value.
 */
export function attributeCondition(
  { attributes }: TimeLogFilter,
  access: TimeLogAccess,
  bind: Bind,
): string | undefined {
  const required = [attributes, access.attributes].filter((values) => values !== undefined);
  if (required.length === 0) return undefined;
  return required.map((values) => `log.attributes @> ${bind(JSON.stringify(values))}::jsonb`).join(' and ');
}

/** The logs that match a filter with attributes. */
export interface MatchingLogs {
  /** The SQL condition on `log`. */
  readonly condition: string;
  readonly parameters: readonly unknown[];
  readonly bind: Bind;
}

/**
 * Returns the logs that a filter selects within an access; undefined if neither limits attributes, unless the logs are
 * read in any case.
 */
export function matchingLogs(
  filter: TimeLogFilter,
  access: TimeLogAccess,
  inAnyCase = false,
): MatchingLogs | undefined {
  const { parameters, bind } = newParameters();
  const ofAttributes = attributeCondition(filter, access, bind) ?? (inAnyCase ? 'true' : undefined);
  if (ofAttributes === undefined) return undefined;
  const projects = projectsOf(filter, access);
  const { from, to } = filter.period;
  const conditions = [
    ofAttributes,
    // With `any`, the index of a project would not give the order of a page.
    projects?.length === 1
      ? `log.project_id = ${bind(projects[0]!)}::uuid`
      : projects && `log.project_id = any(${bind(`{${projects.join()}}`)}::uuid[])`,
    from && `log.date >= ${bind(from)}::date`,
    to && `log.date <= ${bind(to)}::date`,
  ];
  return { condition: conditions.filter(Boolean).join(' and '), parameters, bind };
}

/**
 * Returns the SQL of the logs of a condition on attributes, which are collected before they are sorted: if the
 * planner overestimated their number, it would read all logs in order until enough match.
 */
export function collected(table: string, condition: string): string {
  return `select * from ${table} log where ${condition} offset 0`;
}

/** Returns the projects that a filter selects within an access; null means all projects. */
export function projectsOf(
  { projectIds }: TimeLogFilter,
  { projects }: TimeLogAccess,
): readonly string[] | null {
  if (projectIds === undefined || projects === undefined) return projectIds ?? projects ?? null;
  return projectIds.filter((id) => projects.includes(id));
}

/** Returns the SQL condition that `log` is within an access. */
export function accessCondition({ projects, attributes }: TimeLogAccess, bind: Bind): string {
  const conditions = ['true'];
  if (projects !== undefined) conditions.push(`log.project_id = any(${bind(projects)}::uuid[])`);
  if (attributes) conditions.push(`log.attributes @> ${bind(JSON.stringify(attributes))}::jsonb`);
  return conditions.join(' and ');
}
