/** What a schema finds wrong (https://standardschema.dev). */
export interface SchemaIssue {
  readonly message: string;
  /** The way to the value: names and indexes, as they are or as `key`. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The most issues that an answer tells, the most steps of a path, and the most characters of each step and message. */
const ISSUES = 10;
const STEPS = 8;
const STEP_LENGTH = 40;
const MESSAGE_LENGTH = 200;
/** In the place of a message that tells a value. */
const NOT_VALID = 'is not valid';
/** So many characters of a text tell it. */
const TELLING = 32;

/** The messages for whoever has sent these attributes: of bounded length and printable, without any value of theirs. */
export function issueTexts(issues: readonly SchemaIssue[], input: unknown): string[] {
  if (issues.length === 0) return [`attributes ${NOT_VALID}`];
  return issues.slice(0, ISSUES).map(({ message, path = [] }) => {
    const steps = path.map((step) => (typeof step === 'object' ? step.key : step));
    const name = steps.slice(0, STEPS).map((step) => nameOf(step));
    const rule = isTelling(message, valueAt(input, steps)) ? NOT_VALID : printable(message);
    return `${['attributes', ...name].join('.')} ${rule}`;
  });
}

/** As names of unknown fields are told. */
function nameOf(step: PropertyKey): string {
  return String(step)
    .slice(0, STEP_LENGTH)
    .replace(/[^\x20-\x7e]/g, '?');
}

function printable(text: string): string {
  return text.slice(0, MESSAGE_LENGTH).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '?');
}

function valueAt(input: unknown, steps: readonly PropertyKey[]): unknown {
  return steps.reduce<unknown>(
    (value, step) => (isObject(value) && Object.hasOwn(value, step) ? Reflect.get(value, step) : undefined),
    input,
  );
}

/**
 * Whether a message tells a text, a number or a truth value that was sent: some schemas say what they got. It may name
 * all that was sent, so what is not told of it is not looked at, and each value is sought once.
 */
function isTelling(message: string, value: unknown): boolean {
  const told = message.slice(0, MESSAGE_LENGTH + TELLING + 1);
  return [...new Set(formsIn(value))].some((form) => holds(told, form));
}

/** How a message may write the values in a value: as they are, and with escapes. */
function formsIn(value: unknown): string[] {
  if (isObject(value)) return Object.values(value).flatMap(formsIn);
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return [];
  const text = String(value)
    .trim()
    .slice(0, TELLING + 1);
  return [text, JSON.stringify(text).slice(1, -1)];
}

/** Whether a text stands in a message, and not within another word or number. */
function holds(message: string, text: string): boolean {
  if (text === '') return false;
  const sought = text.slice(0, TELLING);
  for (let at = message.indexOf(sought); at !== -1; at = message.indexOf(sought, at + 1)) {
    const end = at + sought.length;
    if (!areOneWord(message[at - 1], sought[0]) && !areOneWord(sought.at(-1), message[end])) return true;
    if (text.length > TELLING) return true;
  }
  return false;
}

function areOneWord(before: string | undefined, after: string | undefined): boolean {
  return [before, after].every((character) => character !== undefined && /[\p{L}\p{N}_]/u.test(character));
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
