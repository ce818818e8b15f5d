import { getMetadataStorage, type ValidationError, validateSync } from 'class-validator';
import { DomainError } from '../../errors/src/index.js';

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

/**
 * An instance of the DTO with the input's values, each checked by its class-validator decorators. Throws one
 * DomainError VALIDATION_ERROR with one message for each wrong value: first in the order of the DTO's fields, then
 * unknown names.
 */
export function validated<T extends object>(dto: Dto<T>, input: object, naming: Naming): T {
  const fields = fieldsOf(dto);
  const instance = new dto();
  for (const field of fields) {
    if (Object.hasOwn(input, field))
      Object.assign(instance, { [field]: (input as Record<string, unknown>)[field] });
  }
  const errors = new Map(
    validateSync(instance, { stopAtFirstError: true }).map((error) => [error.property, error]),
  );
  const messages: string[] = [];
  for (const field of fields) {
    const error = errors.get(field);
    if (naming.repeated?.has(field)) messages.push(`${field} must not be repeated`);
    else if (error) messages.push(firstMessage(error));
  }
  const known = new Set(fields);
  const unknown = Object.keys(input)
    .filter((key) => !known.has(key))
    .slice(0, UNKNOWN_NAMES);
  if (messages.length + unknown.length > 0) {
    const kind = `unknown ${naming.member}`;
    throw new DomainError(
      'VALIDATION_ERROR',
      [...messages, ...unknown.map((name) => `${kind}: ${printable(name)}`)].join('; '),
      { logged: [...messages, ...unknown.map(() => kind)].join('; ') },
    );
  }
  return instance;
}

const fieldsByDto = new WeakMap<object, readonly string[]>();

/** The decorated properties of a DTO, in the order of their declaration. */
export function fieldsOf(dto: Dto<object>): readonly string[] {
  const known = fieldsByDto.get(dto);
  if (known) return known;
  const metadata = getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false);
  const fields = [...new Set(metadata.map(({ propertyName }) => propertyName))];
  fieldsByDto.set(dto, fields);
  return fields;
}

function firstMessage({ constraints, property }: ValidationError): string {
  return Object.values(constraints ?? {})[0] ?? `${property} is not valid`;
}

/** A name that is safe in a message: printable ASCII, cut to length. */
function printable(name: string): string {
  return name.slice(0, NAME_LENGTH).replace(/[^\x20-\x7e]/g, '?');
}
