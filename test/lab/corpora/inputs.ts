import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { isRefused, PARAMETERS, verdictOnBody, verdictOnQuery } from '../properties/oracle.js';
import type { Corpora } from './read.js';
import { bodyWith, get, type Message, messageOf, post, TIME_LOGS } from './requests.js';

export type { Message } from './requests.js';

/** What must become of an input. */
export type Expectation =
  /** `201` with these values, which the list shows too. */
  | { readonly kind: 'stored'; readonly values: Readonly<Record<string, unknown>> }
  /** One of these statuses with the error body, whose message must match. */
  | { readonly kind: 'refused'; readonly statuses: readonly number[]; readonly message?: RegExp }
  /** `200`, with this request id where one is given. */
  | { readonly kind: 'served'; readonly requestId?: string }
  /**
   * Answers of the contract and a close. What is malformed is never served: its last word is `400`, or a close
   * without a word.
   */
  | { readonly kind: 'raw'; readonly isMalformed: boolean };

/** Something of a corpus in one of its uses. */
export interface Input {
  readonly name: string;
  /** A whole request, but for `raw`. */
  readonly bytes: Buffer;
  /** The same as a message, where it can be one. */
  readonly message?: Message;
  /** Of the log that may come of it, and of no other input's. */
  readonly projectId: string;
  readonly expected: Expectation;
}

const BODY_LIMIT = 64 * 1024;
const RECORD = 'time-log.record.v1';
/** Every operation with a query, over HTTP and as a message. */
const QUERIES = {
  list: { path: TIME_LOGS, pattern: 'time-log.list.v1' },
  totals: { path: `${TIME_LOGS}/totals`, pattern: 'time-log.totals.v1' },
};
const UNREADABLE = /^the request body must be valid (JSON|UTF-8)$/;
const READABLE = /^(?!the request body must be valid )/;
/** What a header's value can carry: no control characters but the tab (RFC 9110, section 5.5). */
const FIT_FOR_HEADER = /^[\t\x20-\x7e\u0080-\uffff]*$/;
const REQUEST_ID = /^[A-Za-z0-9._~:+/=@-]{1,128}$/;

/** All inputs of the corpora, in all their uses. */
export function inputsOf({ jsonFiles, naughtyStrings, utf8, rawRequests }: Corpora): Input[] {
  return [
    ...jsonFiles.flatMap(({ name, bytes }) => [wholeBody(name, bytes), ...innerValue(name, bytes)]),
    ...naughtyStrings.flatMap((text, index) => naughtyInputs(text, `naughty string ${index}`)),
    ...utf8.map(({ id, bytes, isValid }) => {
      const value = Buffer.concat([Buffer.from('"'), bytes, Buffer.from('"')]);
      const input = create(`UTF-8 ${id}`, 'description', value);
      return isValid ? input : { ...input, expected: refused(400, /^the request body must be valid UTF-8$/) };
    }),
    ...rawRequests.map(({ title, isError, bytes }) =>
      inputOf(`raw request ${title}`, bytes, { kind: 'raw', isMalformed: isError }),
    ),
  ];
}

/** A file of JSONTestSuite as a body: whether it is to be read as JSON its name says; a time log is none of them. */
function wholeBody(name: string, bytes: Buffer): Input {
  const message = { y: READABLE, n: UNREADABLE, i: /./ }[name[0] as 'y' | 'n' | 'i'];
  const expected = bytes.length > BODY_LIMIT ? refused(413) : refused(400, message);
  const input = inputOf(`${name} as body`, post(bytes), expected);
  return { ...input, message: messageOf(RECORD, 'timeLog', bytes) };
}

/**
 * A file that is or may be JSON as a value: a text as description, a number as duration, anything else as an unknown
 * member.
 */
function innerValue(name: string, bytes: Buffer): Input[] {
  if (name.startsWith('n_')) return [];
  const [value, raw] = singleValue(bytes);
  const member = typeof value === 'string' ? 'description' : typeof value === 'number' ? 'duration' : 'extra';
  return [create(`${name} as ${member}`, member, raw)];
}

/** What the bytes say as JSON, and the bytes of it; of a list with one member that member. */
function singleValue(bytes: Buffer): [value: unknown, raw: Buffer] {
  try {
    if (!isUtf8(bytes)) return [undefined, bytes];
    const value = JSON.parse(bytes.toString()) as unknown;
    if (!Array.isArray(value) || value.length !== 1) return [value, bytes];
    return [value[0], bytes.subarray(bytes.indexOf('[') + 1, bytes.lastIndexOf(']'))];
  } catch {
    return [undefined, bytes];
  }
}

function naughtyInputs(text: string, name: string): Input[] {
  const encoded = encodeURIComponent(text.toWellFormed());
  const asHeader = (expected: Expectation) => (FIT_FOR_HEADER.test(text) ? expected : refused(400));
  // HTTP knows no other blanks.
  const id = text.replace(/^[ \t]+|[ \t]+$/g, '');
  return [
    create(`${name} as description`, 'description', JSON.stringify(text)),
    ...queryInputs(text, name, 'list'),
    ...queryInputs(text, name, 'totals'),
    inputOf(`${name} as token`, get('/health', { Authorization: `Bearer ${text}` }), asHeader(refused(401))),
    inputOf(
      `${name} as request id`,
      get('/health', { 'X-Request-Id': text }),
      asHeader(served(REQUEST_ID.test(id) ? id : undefined)),
    ),
    inputOf(
      `${name} as media type`,
      post(bodyWith(randomUUID(), 'description', '""'), text),
      asHeader(refused(415)),
    ),
    inputOf(
      `${name} as path, encoded`,
      get(`${TIME_LOGS}/${encoded}`),
      text === '' ? served() : refused(400, /^id must be a UUID$/),
    ),
    // As it is, it may be no path at all.
    inputOf(`${name} as path`, get(`/${text}`), { kind: 'refused', statuses: [400, 404] }),
  ];
}

/** A text as each parameter of an operation. */
function queryInputs(text: string, name: string, operation: keyof typeof QUERIES): Input[] {
  const { path, pattern } = QUERIES[operation];
  return PARAMETERS[operation].map((parameter) => {
    const query = `${parameter}=${encodeURIComponent(text.toWellFormed())}`;
    const verdict = verdictOnQuery(query, operation);
    const expected = isRefused(verdict) ? refused(400, verdict.message) : served();
    const value = Buffer.from(JSON.stringify({ [parameter]: text.toWellFormed() }));
    const input = inputOf(`${name} as ${parameter} of ${operation}`, get(`${path}?${query}`), expected);
    return { ...input, message: messageOf(pattern, 'query', value) };
  });
}

/** A create that is valid but for this member, of which the interface decides. */
function create(name: string, member: string, value: Buffer | string): Input {
  const projectId = randomUUID();
  const body = bodyWith(projectId, member, value);
  const verdict = verdictOnBody(body);
  const expected: Expectation = isRefused(verdict)
    ? refused(400, verdict.message)
    : { kind: 'stored', values: verdict.values };
  return { name, bytes: post(body), message: messageOf(RECORD, 'timeLog', body), projectId, expected };
}

function inputOf(name: string, bytes: Buffer, expected: Expectation): Input {
  return { name, bytes, projectId: randomUUID(), expected };
}

function refused(status: number, message = /./): Expectation {
  return { kind: 'refused', statuses: [status], message };
}

function served(requestId?: string): Expectation {
  return { kind: 'served', ...(requestId !== undefined && { requestId }) };
}
