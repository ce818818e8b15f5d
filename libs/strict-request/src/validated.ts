import { type ValidationError, validateSync } from 'class-validator';
import { DomainError } from '../../errors/src/index.js';
import { meetsConstraints, propertiesOf } from './constraints.js';

type Dto<T> = new () => T;

/** The most unknown names in a message, and the most characters of each. */
const UNKNOWN_NAMES = 3;
const NAME_LENGTH = 40;

export interface Naming {
  /** What a message calls a member of the input. */
  readonly member: 'field' | 'parameter' | 'header';
  /** Members that came more than once although they must not. */
  readonly repeated?: ReadonlySet<string>;
}

/** An instance of a DTO, and what is wrong with the input. */
export interface Checked<T> {
  readonly instance: T;
  /** One message for each wrong value, in the order of the DTO's fields. */
  readonly faults: readonly string[];
  /** The same for the log. */
  readonly logged: readonly string[];
  readonly unknown: readonly string[];
}

/**
 * An instance of the DTO with the input's values, each checked by its class-validator decorators. Throws one
 * DomainError VALIDATION_ERROR with one message for each wrong value: first in the order of the DTO's fields, then
 * unknown names.
 */
export function validated<T extends object>(dto: Dto<T>, input: object, naming: Naming): T {
  const checked = check(dto, input, naming);
  requireFaultless(checked, naming);
  return checked.instance;
}

/** The values of the input in an instance of the DTO, with their faults. */
export function check<T extends object>(dto: Dto<T>, input: object, { repeated }: Naming): Checked<T> {
  const properties = propertiesOf(dto);
  const instance = new dto();
  for (const { name } of properties) {
    if (Object.hasOwn(input, name)) {
      (instance as Record<string, unknown>)[name] = (input as Record<string, unknown>)[name];
    }
  }
  const errors = meetsConstraints(dto, instance) ? [] : validateSync(instance, { stopAtFirstError: true });
  const faults: string[] = [];
  for (const { name } of properties) {
    const error = errors.find(({ property }) => property === name);
    if (repeated?.has(name)) faults.push(`${name} must not be repeated`);
    else if (error) faults.push(firstMessage(error));
  }
  return {
    instance,
    faults,
    logged: faults,
    unknown: Object.keys(input).filter((key) => !properties.some(({ name }) => name === key)),
  };
}

/** Throws DomainError VALIDATION_ERROR where there are faults or unknown names. Of the names it tells the first few. */
export function requireFaultless(
  { faults, logged, unknown }: Omit<Checked<object>, 'instance'>,
  { member }: Naming,
): void {
  if (faults.length + unknown.length === 0) return;
  const kind = `unknown ${member}`;
  const names = unknown.slice(0, UNKNOWN_NAMES);
  throw new DomainError(
    'VALIDATION_ERROR',
    [...faults, ...names.map((name) => `${kind}: ${printable(name)}`)].join('; '),
    { logged: [...logged, ...names.map(() => kind)].join('; ') },
  );
}

function firstMessage({ constraints, property }: ValidationError): string {
  return Object.values(constraints ?? {})[0] ?? `${property} is not valid`;
}

/** A name that is safe in a message: printable ASCII, cut to length. */
function printable(name: string): string {
  return name.slice(0, NAME_LENGTH).replace(/[^\x20-\x7e]/g, '?');
}
