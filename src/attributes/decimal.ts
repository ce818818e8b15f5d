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
