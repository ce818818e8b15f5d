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

/** The newest logs of a period that are looked at, and how many of them must have the attributes to read it by date. */
const SAMPLE = { logs: 100, matching: 5 };
/** The number of logs that the index of attributes finds while one is read by date, and the least that take long. */
const FOUND = { perRead: 5, slow: 20_000 };

/** The logs that match a filter with attributes. */
export interface MatchingLogs {
  /** The SQL condition on `log`. */
  readonly condition: string;
  /** Only for a period of one project or of all. */
  readonly byDate?: LogsByDate | undefined;
  readonly parameters: readonly unknown[];
  readonly bind: Bind;
}

/** How to read the logs of a period by date, and compare their attributes. */
interface LogsByDate {
  /** The SQL condition on `log`, which the index of attributes does not support. */
  readonly condition: string;
  /** Returns SQL with a row if that is faster. `sums` is the routine that adds up logs. */
  readonly isFaster: (table: string, sums: string) => string;
  /** The parameters of that SQL. */
  readonly parameters: readonly unknown[];
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
  const project = projects?.length === 1 ? `${bind(projects[0]!)}::uuid` : undefined;
  const [from, to] = [filter.period.from, filter.period.to].map((day) => day && `${bind(day)}::date`);
  const conditions = [
    // With `any`, the index of a project would not give the order of a page.
    project
      ? `log.project_id = ${project}`
      : projects && `log.project_id = any(${bind(`{${projects.join()}}`)}::uuid[])`,
    from && `log.date >= ${from}`,
    to && `log.date <= ${to}`,
  ];
  const place = conditions.filter(Boolean).join(' and ') || 'true';
  const matching = { condition: `${ofAttributes} and ${place}`, parameters, bind };
  if (ofAttributes === 'true' || !from || !to || (projects && !project)) return matching;
  const count = (sums: string, period: string) =>
    `(select n from ${sums}(${project ? `array[${project}]` : 'null'}, ${period}))`;
  const byDate: LogsByDate = {
    condition: `(${ofAttributes}) is true and ${place}`,
    // That index has no dates: it finds the logs of all time, whose number the share of the newest ones predicts.
    isFaster: (table, sums) =>
      `select from (select count(*) filter (where ${ofAttributes}) as matching
                      from (select attributes from ${table} log where ${place}
                             order by date desc limit ${SAMPLE.logs}) log) newest
        where case when matching >= ${SAMPLE.matching} then
                matching * ${count(sums, 'null, null')} >
                  ${SAMPLE.logs} * greatest(${FOUND.slow}, ${FOUND.perRead} * ${count(sums, `${from}, ${to}`)}) end`,
    parameters: [...parameters],
  };
  return { ...matching, byDate };
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
