/** What JSON may be at most. */
export interface JsonBounds {
  /** Levels of objects and arrays, the outermost counted. */
  readonly depth: number;
  /** Bytes of its text, with every number written out, as PostgreSQL does it. */
  readonly bytes: number;
}

const NO_JSON = 'must be JSON';

/** What is wrong with a value as JSON that PostgreSQL can store, or undefined. */
export function jsonFault(value: unknown, { depth, bytes }: JsonBounds): string | undefined {
  const fault = partFault(value, depth);
  if (fault === TOO_DEEP) return `must not be nested deeper than ${depth} levels`;
  return fault ?? (bytesOf(value) > bytes ? `must be at most ${bytes} bytes` : undefined);
}

/** What is wrong with text that PostgreSQL could not store and return unchanged, or undefined. */
export function textFault(text: string): string | undefined {
  if (text.includes('\0')) return 'must not contain U+0000';
  return text.isWellFormed() ? undefined : 'must not contain lone surrogates';
}

/** A copy of JSON that nobody else has, as it is stored: without members that are undefined. */
export function jsonCopy(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

/** The same JSON, of which nobody can change anything. */
export function frozen(value: unknown): unknown {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(frozen);
  return Object.freeze(value);
}

/** One text for all JSON of equal value: the order of members does not count. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) =>
    isPlainObject(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

/** True for what JSON calls an object: neither null nor an array, nor an instance of a class. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  // Also of another realm, whose prototype is not ours.
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

const TOO_DEEP = 'too deep';

function partFault(part: unknown, levels: number): string | undefined {
  if (typeof part === 'string') return textFault(part);
  if (typeof part === 'number') return Number.isFinite(part) ? undefined : NO_JSON;
  if (typeof part === 'boolean' || part === null) return undefined;
  const isArray = Array.isArray(part);
  if (!isArray && !isPlainObject(part)) return NO_JSON;
  if (levels === 0) return TOO_DEEP;
  for (const [name, member] of Object.entries(part)) {
    if (member === undefined && !isArray) continue;
    const fault = textFault(name) ?? partFault(member, levels - 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** A few characters make a number of hundreds of digits, so those count. */
function bytesOf(value: unknown): number {
  let more = 0;
  const text = JSON.stringify(value, (_name, part: unknown) => {
    if (typeof part === 'number') more += exponentOf(part);
    return part;
  });
  return Buffer.byteLength(text) + more;
}

function exponentOf(number: number): number {
  const [, exponent = 0] = String(number).split('e');
  return Math.abs(Number(exponent));
}
