import { hash } from 'node:crypto';
import { canonicalText } from './idempotency-key.js';
import type { TimeLog } from './time-log.js';

/** The number of characters of a tag: 128 bits in base64url. */
const TAG_LENGTH = 22;
/** A member of a list, with any space around it. The text of an entity tag may contain commas. */
const LIST_MEMBER = /(?:"[^"]*"|[^",])+/g;
/** A strong entity tag, with any space around it. It matches in linear time. */
const STRONG_TAG = /^[ \t]*("[^"]*")[ \t]*$/;

/**
 * Returns the strong entity tag (RFC 9110, section 8.8.3) of the version of a log that has these values: the same
 * in every instance and version of the service, and after every move of the database.
 */
export function entityTagOf(log: TimeLog): string {
  const digest = hash('sha256', log.id + canonicalText(log, log.attributes), 'base64url');
  return `"${digest.slice(0, TAG_LENGTH)}"`;
}

/**
 * Returns the strong tags of an `If-Match` header (RFC 9110, section 13.1.1), or undefined if it is no condition. No
 * other member can match.
 */
export function entityTagsIn(header: string | undefined): readonly string[] | undefined {
  if (header === undefined || header === '*') return undefined;
  return header.match(LIST_MEMBER)?.flatMap((member) => STRONG_TAG.exec(member)?.[1] ?? []) ?? [];
}
