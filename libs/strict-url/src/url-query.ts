import { readFileSync } from 'node:fs';

/** Returns a description of the valid values of a parameter, or undefined if the value is valid. */
type ValueRule = (value: string) => string | undefined;

/** The parameters that a URL may have. */
export type QueryRules = Readonly<Record<string, ValueRule>>;

/** A file with certificates or a key. Node.js loads none from other files, without an error. */
export const pemFile: ValueRule = (path) => {
  const expected = 'the path of a readable PEM file';
  try {
    return readFileSync(path, 'latin1').includes('-----BEGIN ') ? undefined : expected;
  } catch {
    return expected;
  }
};

export const oneOf =
  (...values: string[]): ValueRule =>
  (value) =>
    values.includes(value) ? undefined : values.join(', ').replace(/, (?=[^,]*$)/, ' or ');

export const wholeNumber =
  (min: number, max: number): ValueRule =>
  (value) =>
    /^\d{1,10}$/.test(value) && Number(value) >= min && Number(value) <= max
      ? undefined
      : `a whole number from ${min} to ${max}`;

/** Returns whether a text is valid percent-encoded UTF-8 (RFC 3986, section 2.1). */
export function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns the parameters of a URL, decoded. */
export function parametersOf(url: string): URLSearchParams {
  return new URLSearchParams(/\?([^#]*)/.exec(url)?.[1]);
}

/**
 * Returns an error message of one line for an invalid query, so that no parameter is ignored. The
 * message has no value, and no unknown name that may be a part of a password.
 */
export function validateQuery(url: string, known: QueryRules): string | undefined {
  const parameters = parametersOf(url);
  const names = Object.keys(known);
  const unknown = [...parameters.keys()].find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const isSecret = parameters.has('password') || !/^[\w.-]{1,40}$/.test(unknown);
    return `has an unknown parameter${isSecret ? '' : ` ${unknown}`} (known: ${names.join(', ') || 'none'})`;
  }
  // Drivers and libpq read it differently: as a space, or as it is.
  if (/\?[^#]*\+/.test(url)) return 'must have %2B for each + after the ?, or %20 for a space';
  for (const [name, value] of parameters) {
    if (parameters.getAll(name).length > 1) return `must contain ${name} only once`;
    if (value.trim() === '') return `must have a value in ${name}, or omit it`;
    const expected = known[name]!(value);
    if (expected !== undefined) return `must have ${expected} in ${name}`;
  }
  return undefined;
}
