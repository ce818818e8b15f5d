import { hash } from 'node:crypto';
import { canonicalText } from './canonical-text.js';
import type { TimeLog } from './time-log.js';

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
