import { attributesIn, type TimeLogAccess } from '../domain/time-log-access.js';
import type { TimeLogFilter } from '../domain/time-log.repository.js';
import { projectsOf } from './access-condition.js';

/** The maximum size of a text that an index of attributes holds: 255 characters of four bytes. */
const MAX_INDEXED_BYTES = 1_020;

/** Returns the SQL of a text: a parameter or a literal. */
type Bind = (text: string) => string;

/**
 * Returns the SQL of an attribute in the indexes; null if it is too long for them. The indexes are not partial: the
 * planner would ignore their statistics, and not know how many logs have a value.
 */
export function indexedAttribute(name: string, row = ''): string {
  const key = `E'${name.replace(/['\\]/g, '$&$&')}'`;
  const column = `${row}attributes`;
  return `(case when octet_length(${column} ->> ${key}) <= ${MAX_INDEXED_BYTES} then ${column} -> ${key} end)`;
}

/**
 * Returns the condition on the attributes of `log` that a filter and an access make; undefined if they make none.
 * Jsonb compares numbers by value.
 */
export function attributeCondition(
  { attributes }: TimeLogFilter,
  access: TimeLogAccess,
  bind: Bind,
): string | undefined {
  const bound = attributesIn(access);
  if (!attributes && !bound) return undefined;
  const required = [...Object.entries(attributes ?? {}), ...Object.entries(bound ?? {})];
  const conditions = required.map(
    ([name, value]) => `${indexedAttribute(name, 'log.')} = ${bind(JSON.stringify(value))}::jsonb`,
  );
  return conditions.join(' and ') || 'true';
}

/** The logs that match a filter with attributes. */
export interface MatchingLogs {
  /** The SQL condition on `log`. */
  readonly condition: string;
  readonly parameters: readonly string[];
  /** Appends a parameter. */
  readonly bind: Bind;
}

/** Returns the logs that a filter selects within an access; undefined if neither limits attributes. */
export function matchingLogs(filter: TimeLogFilter, access: TimeLogAccess): MatchingLogs | undefined {
  const parameters: string[] = [];
  const bind = (text: string) => `$${parameters.push(text)}`;
  const ofAttributes = attributeCondition(filter, access, bind);
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
