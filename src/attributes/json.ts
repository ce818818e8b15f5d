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
