import { hash } from 'node:crypto';
import {
  type AllTimeLogValues,
  type FieldTable,
  normalizedValues,
  TIME_LOG_FIELDS,
  type TimeLog,
  type TimeLogValues,
} from './time-log.js';

/** The fields of version 0.1. */
const FIRST_FIELDS = ['projectId', 'duration', 'description', 'date'];

/**
 * Returns a text that is the same for equal values in their stored form, in every version of the service. The values
 * of version 0.1 come first, without names. Later fields follow with their names, only if they differ from their
 * defaults, so that retries work across an upgrade.
 */
function canonicalText(values: AllTimeLogValues, fields: FieldTable = TIME_LOG_FIELDS): string {
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

/** Returns the SHA-256 of the values that were sent for a log, in hex. */
export function fingerprintOf(values: TimeLogValues, fields?: FieldTable): string {
  return hash('sha256', canonicalText(normalizedValues(values, fields), fields));
}

/** Returns the same of a batch. It depends on the order, and no single log has it. */
export function fingerprintOfAll(batch: readonly TimeLogValues[]): string {
  const texts = batch.map((values) => canonicalText(normalizedValues(values)));
  return hash('sha256', JSON.stringify(['batch', ...texts]));
}

/** The number of characters of a tag: 128 bits in base64url. */
const TAG_LENGTH = 22;
/** A member of a list, with any space around it. The text of an entity tag may contain commas. */
const LIST_MEMBER = /(?:"[^"]*"|[^",])+/g;
/** An entity tag, with any space around it. It matches in linear time. */
const ENTITY_TAG = /^[ \t]*((?:W\/)?"[^"]*")[ \t]*$/;
/** The forms of our tags: proxies that compress an answer make its tag weak, or append the name of the encoding. */
const OUR_TAG = new RegExp(`^(?:W/)?"([\\w-]{${TAG_LENGTH}})(?:-(?:gzip|br|zstd))?"$`);
/** The member of a list that names every version. */
export const ANY_VERSION = '*';

/**
 * Returns the strong entity tag (RFC 9110, section 8.8.3) of the version of a log that has these values: the same
 * in every instance and version of the service, and after every move of the database.
 */
export function entityTagOf(log: TimeLog): string {
  const digest = hash('sha256', log.id + canonicalText(log), 'base64url');
  return `"${digest.slice(0, TAG_LENGTH)}"`;
}

/**
 * Returns the tags of an `If-Match` or `If-None-Match` header (RFC 9110, section 13.1), or `*` alone. Members in
 * another form are left out: they name no version.
 */
export function entityTagsIn(header: string | undefined): readonly string[] | undefined {
  if (header === undefined || header === ANY_VERSION) return header && [header];
  return header.match(LIST_MEMBER)?.flatMap((member) => ENTITY_TAG.exec(member)?.[1] ?? []) ?? [];
}

/** Returns whether one of the tags names the version of a log. A tag names values, not bytes: a weak one does too. */
export function isVersionIn(tags: readonly string[], log: TimeLog): boolean {
  const own = entityTagOf(log);
  return tags.some((tag) => tag === ANY_VERSION || `"${OUR_TAG.exec(tag)?.[1]}"` === own);
}
