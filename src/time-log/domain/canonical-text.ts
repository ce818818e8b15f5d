import { type AllTimeLogValues, type FieldTable, TIME_LOG_FIELDS } from './time-log.js';

/** The fields of version 0.1. */
const FIRST_FIELDS = ['projectId', 'duration', 'description', 'date'];

/**
 * Returns a text that is the same for equal values in their stored form, in every version of the service. The values
 * of version 0.1 come first, without names. Later fields follow with their names, only if they differ from their
 * defaults, so that retries work across an upgrade.
 */
export function canonicalText(values: AllTimeLogValues, fields: FieldTable = TIME_LOG_FIELDS): string {
  const parts: unknown[] = [];
  for (const name in fields) {
    const value = values[name as keyof typeof TIME_LOG_FIELDS];
    if (FIRST_FIELDS.includes(name)) parts.push(value);
    else if (value !== fields[name]!.default) parts.push([name, value]);
  }
  if (values.attributes !== undefined) parts.push(['attributes', canonicalJson(values.attributes)]);
  return JSON.stringify(parts);
}

/** Returns the same text for all JSON of equal value. The order of fields does not count. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(value));
}

function sorted(part: unknown): unknown {
  if (typeof part !== 'object' || part === null) return part;
  if (Array.isArray(part)) return part.map(sorted);
  const members = part as Readonly<Record<string, unknown>>;
  const names = Object.keys(members).sort();
  return Object.fromEntries(names.map((name) => [name, sorted(members[name])]));
}
