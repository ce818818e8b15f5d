import { type Fault, faultOf } from '../../libs/errors/src/index.js';

/** An issue that a schema reports (https://standardschema.dev). */
export interface SchemaIssue {
  readonly message: string;
  /** The path to the value: names and indexes, or objects with them as `key`. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

const MAX_ISSUES = 10;
const MAX_PATH_STEPS = 8;
const MAX_STEP_LENGTH = 40;
const MAX_MESSAGE_LENGTH = 200;
/** The text that replaces a message which contains a sent value. */
const NOT_VALID = 'is not valid';
/** A message that repeats this many characters of a value gives it away. */
const LEAK_PREFIX_LENGTH = 32;

/** Returns the faults of attributes. Their messages are short, printable, and without sent values. */
export function issueFaults(issues: readonly SchemaIssue[], input: unknown): Fault[] {
  if (issues.length === 0) return [schemaFault('attributes', NOT_VALID)];
  return issues.slice(0, MAX_ISSUES).map(({ message, path = [] }) => {
    const steps = path.map((step) => (typeof step === 'object' ? step.key : step));
    const names = steps.slice(0, MAX_PATH_STEPS).map(printableStep);
    const rule = leaksValue(message, valueAt(input, steps)) ? NOT_VALID : printable(message);
    return schemaFault(['attributes', ...names].join('.'), rule);
  });
}

function schemaFault(field: string, text: string): Fault {
  return { ...faultOf(field, null, 'schema', text), logged: 'attributes must obey their schema' };
}

/** Writes a name like that of an unknown field. */
function printableStep(step: PropertyKey): string {
  return String(step)
    .slice(0, MAX_STEP_LENGTH)
    .replace(/[^\x20-\x7e]/g, '?');
}

function printable(text: string): string {
  return text.slice(0, MAX_MESSAGE_LENGTH).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '?');
}

function valueAt(input: unknown, steps: readonly PropertyKey[]): unknown {
  return steps.reduce<unknown>(
    (value, step) => (isObject(value) && Object.hasOwn(value, step) ? Reflect.get(value, step) : undefined),
    input,
  );
}

/**
 * Returns whether a message contains a string, number or boolean that was sent, as those of some schemas do.
 * Input can be large: only the reported part of the message is searched, once for each value.
 */
function leaksValue(message: string, value: unknown): boolean {
  const searched = message.slice(0, MAX_MESSAGE_LENGTH + LEAK_PREFIX_LENGTH + 1);
  return [...new Set(spellingsIn(value))].some((spelling) => containsWord(searched, spelling));
}

/** Returns all values inside a value as text, plain and with escapes. */
function spellingsIn(value: unknown): string[] {
  if (isObject(value)) return Object.values(value).flatMap(spellingsIn);
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return [];
  const text = String(value)
    .trim()
    .slice(0, LEAK_PREFIX_LENGTH + 1);
  return [text, JSON.stringify(text).slice(1, -1)];
}

/** Returns whether a message contains a text that is not part of a longer word or number. */
function containsWord(message: string, text: string): boolean {
  if (text === '') return false;
  const prefix = text.slice(0, LEAK_PREFIX_LENGTH);
  for (let at = message.indexOf(prefix); at !== -1; at = message.indexOf(prefix, at + 1)) {
    const end = at + prefix.length;
    if (!areOneWord(message[at - 1], prefix[0]) && !areOneWord(prefix.at(-1), message[end])) return true;
    if (text.length > LEAK_PREFIX_LENGTH) return true;
  }
  return false;
}

function areOneWord(before: string | undefined, after: string | undefined): boolean {
  return [before, after].every((character) => character !== undefined && /[\p{L}\p{N}_]/u.test(character));
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
