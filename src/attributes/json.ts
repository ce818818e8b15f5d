import { MAX_ATTRIBUTE_NUMBER } from '../../libs/auth/src/index.js';
import { isPlainObject, textFault } from '../time-log/index.js';

/** The maximum depth and size of JSON. */
export interface JsonBounds {
  /** The levels of objects and arrays, including the outermost. */
  readonly depth: number;
  /** The bytes of its text if numbers have no exponent, as PostgreSQL writes them. */
  readonly bytes: number;
}

const NOT_JSON = 'must be JSON';
/** JSON.parse makes one number of several texts above this one. */
const TOO_LARGE = `must not contain a number above ${MAX_ATTRIBUTE_NUMBER} in magnitude: use a string`;

/** Returns the error message for a value that PostgreSQL cannot store as JSON, or undefined. */
export function jsonFault(value: unknown, { depth, bytes }: JsonBounds): string | undefined {
  const fault = partFault(value, depth);
  if (fault === TOO_DEEP) return `must not be nested deeper than ${depth} levels`;
  return fault ?? (bytesOf(value) > bytes ? `must be at most ${bytes} bytes` : undefined);
}

/** Returns a deep copy of JSON as it is stored, without undefined fields. */
export function jsonCopy(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

/** Freezes JSON at every level, and returns it. */
export function deepFreeze(value: unknown): unknown {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(deepFreeze);
  return Object.freeze(value);
}

const TOO_DEEP = 'too deep';

function partFault(part: unknown, levels: number): string | undefined {
  if (typeof part === 'string') return textFault(part);
  if (typeof part === 'number') return numberFault(part);
  if (typeof part === 'boolean' || part === null) return undefined;
  const isArray = Array.isArray(part);
  if (!isArray && !isPlainObject(part)) return NOT_JSON;
  if (levels === 0) return TOO_DEEP;
  for (const [name, member] of Object.entries(part)) {
    if (member === undefined && !isArray) continue;
    const fault = textFault(name) ?? partFault(member, levels - 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function numberFault(number: number): string | undefined {
  if (Number.isNaN(number)) return NOT_JSON;
  return Math.abs(number) > MAX_ATTRIBUTE_NUMBER ? TOO_LARGE : undefined;
}

/** Returns the bytes of JSON in PostgreSQL, which writes numbers without exponents, or a few more. */
function bytesOf(value: unknown): number {
  let zeros = 0;
  const text = JSON.stringify(value, (_name, part: unknown) => {
    if (typeof part === 'number') zeros += exponentOf(part);
    return part;
  });
  return Buffer.byteLength(text) + zeros;
}

function exponentOf(number: number): number {
  const [, exponent = 0] = String(number).split('e');
  return Math.abs(Number(exponent));
}
