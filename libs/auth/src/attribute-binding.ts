import { Logger } from '@nestjs/common';
import type { Caller } from '../../strict-request/src/index.js';

/** The names of the attributes by which logs can be filtered, and callers bound. */
export const ATTRIBUTE_NAME = /^[A-Za-z][A-Za-z0-9_]{0,31}$/;
/** The maximum number of these attributes. */
export const MAX_ATTRIBUTES = 8;
/** The maximum number of characters of their texts. */
export const MAX_ATTRIBUTE_LENGTH = 255;

/** Returns whether a text has more characters than an attribute may have. Pairs of surrogates are one. */
export function isTooLong(text: string): boolean {
  return text.length > MAX_ATTRIBUTE_LENGTH && Array.from(text).length > MAX_ATTRIBUTE_LENGTH;
}

/** The maximum magnitude of a number in an attribute: JSON.parse makes one number of several texts above it. */
export const MAX_ATTRIBUTE_NUMBER = Number.MAX_SAFE_INTEGER;

const logger = new Logger('Attributes');

/** Returns whether a caller can be bound to a value of an attribute. */
export function isAttributeValue(value: unknown): value is string | number | boolean {
  if (typeof value === 'string')
    return value !== '' && value.isWellFormed() && !value.includes('\0') && !isTooLong(value);
  return typeof value === 'boolean' || (typeof value === 'number' && Math.abs(value) <= MAX_ATTRIBUTE_NUMBER);
}

/** Returns whether a value is the values of attributes to which a caller can be bound. */
export function isAttributeBinding(value: unknown): value is NonNullable<Caller['attributes']> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const entries = Object.entries(value);
  if (entries.length === 0 || entries.length > MAX_ATTRIBUTES) return false;
  return entries.every(([name, one]) => ATTRIBUTE_NAME.test(name) && isAttributeValue(one));
}

/**
 * Returns the bounds of a caller with the values to which the code of a host has bound it. A number that may have been
 * rounded, such as one from a claim, binds it to no project, and the log says why. Throws an Error for any other value.
 */
export function checkAttributeBinding(value: unknown): Pick<Caller, 'projects' | 'attributes'> {
  if (isAttributeBinding(value)) return { attributes: { ...value } };
  const inexact = Object.entries(Object(value) as object).find(
    ([, one]) => typeof one === 'number' && Math.abs(one) > MAX_ATTRIBUTE_NUMBER,
  );
  if (inexact) {
    logger.warn(
      `a caller is bound to no project: the number of its attribute ${inexact[0]} is above ${MAX_ATTRIBUTE_NUMBER} in magnitude: use a string`,
    );
    return { projects: [], attributes: undefined };
  }
  throw new Error(
    `the property attributes of a caller is not an object with 1 to ${MAX_ATTRIBUTES} strings, numbers or booleans: return { userId: 'ada' }, or undefined for all logs`,
  );
}
