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

/** Returns a deep copy of JSON as it is stored, without undefined fields. It is frozen at every level. */
export function frozenCopy(value: unknown): unknown {
  // JSON has no -0.
  if (typeof value === 'number') return value + 0;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(frozenCopy));
  const copy: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    const field = frozenCopy(member);
    // An assignment would set the prototype.
    if (name === '__proto__') Object.defineProperty(copy, name, { value: field, enumerable: true });
    else copy[name] = field;
  }
  return Object.freeze(copy);
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
  return Buffer.byteLength(JSON.stringify(value)) + zerosIn(value);
}

function zerosIn(part: unknown): number {
  if (typeof part === 'number') return Math.abs(Number(String(part).split('e')[1] ?? 0));
  if (typeof part !== 'object' || part === null) return 0;
  return Object.values(part).reduce<number>((sum, member) => sum + zerosIn(member), 0);
}

/** The number `digits` × 10^`exponent`. */
interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

const DECIMAL = /^(-?\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i;

/** Returns whether a number is a multiple of another one, as decimals: 0.3 is a multiple of 0.1. */
export function isMultipleOf(value: number, divisor: number): boolean {
  const [dividend, by] = scaled(decimalOf(String(value)), decimalOf(String(divisor)));
  return dividend % by === 0n;
}

/** Returns whether the number that JavaScript reads from the text of a JSON number is the same decimal. */
export function isExactText(text: string): boolean {
  const number = Number(text);
  const decimal = decimalOf(text);
  // Otherwise 1e-999999999 would be scaled.
  if (number === 0 || !Number.isFinite(number)) return number === 0 && decimal.digits === 0n;
  const [sent, read] = scaled(decimal, decimalOf(String(number)));
  return sent === read;
}

function decimalOf(text: string): Decimal {
  const [, whole = '', fraction = '', exponent = '0'] = DECIMAL.exec(text) ?? [];
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}

/** Returns the digits of both for the smaller one of their exponents. */
function scaled(a: Decimal, b: Decimal): [bigint, bigint] {
  const exponent = Math.min(a.exponent, b.exponent);
  const digitsOf = (one: Decimal) => one.digits * 10n ** BigInt(one.exponent - exponent);
  return [digitsOf(a), digitsOf(b)];
}
