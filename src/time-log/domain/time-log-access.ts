import type { Attributes } from './time-log.js';

/** The values that attributes must have, by their names. Numbers are equal if their values are: 1 and 1.0. */
export type AttributeValues = Readonly<Record<string, string | number | boolean>>;

/** The values of a filter. An array must be contained. */
export type MatchedValues = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** The logs that a caller may read and change: those of these projects, and with all of these attributes. */
export interface TimeLogAccess {
  /** Ids in lower case; undefined: all projects. */
  readonly projects?: readonly string[] | undefined;
  readonly attributes?: AttributeValues | undefined;
}

/** The messages for a caller that is bound to other projects or attributes. */
export const PROJECT_NOT_ALLOWED = 'the token does not allow this project';
export const ATTRIBUTE_NOT_ALLOWED = 'the token does not allow this attribute';

/** Returns whether attributes have all of these values. */
export function haveValues(attributes: Attributes | undefined, values: AttributeValues = {}): boolean {
  return Object.entries(values).every(
    ([name, value]) => attributes && Object.hasOwn(attributes, name) && attributes[name] === value,
  );
}
