import { getMetadataStorage, ValidateBy, ValidateIf, ValidationTypes, validateSync } from 'class-validator';
import { type Fault, faultOf, validationError } from '../../errors/src/index.js';
import { rulesOf, withinDeadline, stateOf } from '../../request-state/src/index.js';

/** A rule that returns the fault of a value, or undefined. It may read the whole DTO. */
export type RuleFunction<T = never> = (value: unknown, dto: T) => Fault | undefined;

/** The name of the constraints that are rules, in class-validator's metadata. */
const RULE = 'rule';

/** Makes class-validator check a property of a DTO by a rule. */
export function Rule<T = never>(rule: RuleFunction<T>): PropertyDecorator {
  return ValidateBy({
    name: RULE,
    constraints: [rule],
    validator: {
      validate: (value: unknown, args) => rule(value, args?.object as T) === undefined,
      defaultMessage: (args) => rule(args?.value, args?.object as T)?.message ?? '',
    },
  });
}

/** Makes a member optional. Unlike class-validator's IsOptional it does not accept `null`. */
export function Omittable(): PropertyDecorator {
  return ValidateIf((_dto, value) => value !== undefined);
}

type Dto<T> = new () => T;

/** A property of a DTO. If all its conditions are true, all its rules must return undefined. */
interface Property {
  readonly conditions: ((dto: object, value: unknown) => boolean)[];
  readonly rules: ((value: unknown, dto: object) => Fault | undefined)[];
}

type Properties = ReadonlyMap<string, Property>;

const newProperty = (): Property => ({ conditions: [], rules: [] });
const propertiesByDto = new WeakMap<Dto<object>, Properties>();

/**
 * Returns whether an instance meets all rules of its DTO's decorators. class-validator's
 * `validateSync` searches the classes of the whole process on each call: 2 µs alone, 44 µs next to
 * 1,000 DTOs of a host (class-validator#2686). Here each DTO is searched once.
 */
export function meetsConstraints(dto: Dto<object>, instance: object): boolean {
  for (const [name, { conditions, rules }] of propertiesOf(dto)) {
    const value = (instance as Record<string, unknown>)[name];
    if (conditions.some((condition) => !condition(instance, value))) continue;
    if (rules.some((rule) => rule(value, instance) !== undefined)) return false;
  }
  return true;
}

/**
 * Returns the decorated properties of a DTO by name, in the order of declaration, inherited ones
 * first. Throws for a decorator that class-validator checks in another way.
 */
export function propertiesOf(dto: Dto<object>): Properties {
  let properties = propertiesByDto.get(dto);
  if (!properties) propertiesByDto.set(dto, (properties = readProperties(dto)));
  return properties;
}

function readProperties(dto: Dto<object>): Properties {
  const parent = Object.getPrototypeOf(dto) as Dto<object>;
  const properties = new Map<string, Property>();
  if (parent.prototype !== undefined) {
    for (const name of propertiesOf(parent).keys()) properties.set(name, newProperty());
  }
  for (const metadata of getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false)) {
    const { propertyName, type, name, constraints } = metadata;
    const property = properties.get(propertyName) ?? newProperty();
    properties.set(propertyName, property);
    if (type === ValidationTypes.CONDITIONAL_VALIDATION)
      property.conditions.push(constraints[0] as Property['conditions'][number]);
    else if (name === RULE) property.rules.push(constraints[0] as Property['rules'][number]);
    else if (type !== ValidationTypes.WHITELIST)
      throw new Error(`${dto.name}.${propertyName} must have only Rule, Allow and conditions as decorators`);
  }
  return properties;
}

/** The maximum number of unknown names in a message. */
const MAX_UNKNOWN_NAMES = 3;
/** The maximum number of characters of an unknown name. */
const MAX_NAME_LENGTH = 40;

/** The kind of an input, for messages. */
export interface InputDescription {
  /** The word for a member of the input. */
  readonly noun: 'field' | 'parameter' | 'header';
  /** The names that the input has more than once, which is not allowed. */
  readonly repeated?: ReadonlySet<string>;
  /** The names whose values are not percent-encoded UTF-8. */
  readonly malformed?: ReadonlySet<string>;
  /** Whether a message about an unknown name lists the known ones. */
  readonly listsKnown?: boolean;
}

export const FIELD: InputDescription = { noun: 'field' };

/** An instance of a DTO, and the faults of the input. */
export interface Validated<T> {
  readonly instance: T;
  /** At most one fault for each value, in the order of the DTO's fields. */
  readonly faults: readonly Fault[];
  /** The names that the DTO does not have. */
  readonly unknown: readonly string[];
}

/**
 * Returns an instance of the DTO with the input's values. Throws one DomainError VALIDATION_ERROR
 * with a message for each invalid value, in the DTO's order, and for the first unknown names.
 */
export function validate<T extends object>(dto: Dto<T>, input: object, description: InputDescription): T {
  const validated = tryValidate(dto, input, description);
  if (isValid(validated)) return validated.instance;
  const known = description.listsKnown ? [...propertiesOf(dto).keys()] : [];
  throw validationError(faultsIn(validated, description, known));
}

/** Returns an instance of the DTO with the input's values, and their faults. */
export function tryValidate<T extends object>(
  dto: Dto<T>,
  input: object,
  description: InputDescription,
): Validated<T> {
  const properties = propertiesOf(dto);
  const instance = new dto();
  for (const name of properties.keys()) {
    if (Object.hasOwn(input, name))
      (instance as Record<string, unknown>)[name] = (input as Record<string, unknown>)[name];
  }
  const unknown = Object.keys(input).filter((name) => !properties.has(name));
  return { instance, faults: faultsOf(dto, instance, description), unknown };
}

const NO_FAULTS: readonly Fault[] = [];

function faultsOf(
  dto: Dto<object>,
  instance: object,
  { repeated, malformed }: InputDescription,
): readonly Fault[] {
  const isMet = meetsConstraints(dto, instance);
  if (isMet && !repeated?.size && !malformed?.size) return NO_FAULTS;
  const errors = isMet ? [] : validateSync(instance, { stopAtFirstError: true });
  const faults: Fault[] = [];
  for (const [name, { rules }] of propertiesOf(dto)) {
    const error = errors.find(({ property }) => property === name);
    if (repeated?.has(name)) faults.push(faultOf(name, null, 'repeated', 'must not be repeated'));
    else if (malformed?.has(name))
      faults.push(faultOf(name, null, 'characters', 'must be percent-encoded UTF-8'));
    else if (error) {
      const [message] = Object.values(error.constraints!);
      const found = rules.map((rule) => rule(error.value, instance));
      faults.push(found.find((fault) => fault?.message === message)!);
    }
  }
  return faults;
}

export function isValid({ faults, unknown }: Validated<object>): boolean {
  return faults.length === 0 && unknown.length === 0;
}

/** A validated object of a body or message. */
export interface ValidatedObject<T> extends Validated<T> {
  /** Returns the faults of the added member, with which the message of a refusal is complete. */
  readonly faultsOfAdded?: () => Promise<readonly Fault[]>;
}

/**
 * Checks an object by its DTO. It may have the member that the module adds, which the use case checks, also if it is
 * missing, unless the object then keeps the stored value.
 */
export function validateObject<T extends object>(
  request: object,
  dto: Dto<T>,
  input: object,
  keepsAdded = false,
): ValidatedObject<T> {
  const validated = tryValidate(dto, input, FIELD);
  const { addedMember } = rulesOf(request);
  if (addedMember === undefined) return validated;
  const { name, faultsOf: faultsOfValue } = addedMember;
  const value: unknown = Object.hasOwn(input, name) ? Reflect.get(input, name) : undefined;
  addValue(validated.instance, name, value);
  const unknown = validated.unknown.filter((member) => member !== name);
  if (value === undefined && keepsAdded) return { ...validated, unknown };
  const faultsOfAdded = () => withinDeadline(request, faultsOfValue(value, stateOf(request).caller));
  return { ...validated, unknown, faultsOfAdded };
}

/** Adds the value of an added member to a DTO. */
export function addValue(instance: object, name: string, value: unknown): void {
  if (value !== undefined) Object.assign(instance, { [name]: () => value });
}

/** Returns all faults of an object that is refused. */
export async function allFaultsOf({
  faults,
  faultsOfAdded,
}: ValidatedObject<object>): Promise<readonly Fault[]> {
  return faultsOfAdded ? [...faults, ...(await faultsOfAdded())] : faults;
}

/** The rules for what the body of a correction may have and lack, unlike that of a create. */
export interface CorrectionRules {
  /** The rules of members that the body may repeat, but not change. */
  readonly fixed?: Readonly<Record<string, (value: unknown) => Fault | undefined>>;
  /** Whether a body without the added member keeps the stored value. */
  readonly keepsAdded?: boolean;
}

/**
 * Returns an instance of the DTO with the values of a body, without its fixed members, whose faults come last. Throws
 * like `validate`.
 */
export async function validateBody<T extends object>(
  request: object,
  dto: Dto<T>,
  body: object,
  { fixed = {}, keepsAdded }: CorrectionRules = {},
): Promise<T> {
  const validated = validateObject(request, dto, body, keepsAdded);
  const ofFixed = Object.entries(fixed).flatMap(([name, rule]) =>
    Object.hasOwn(body, name) ? (rule(Reflect.get(body, name)) ?? []) : [],
  );
  const unknown = validated.unknown.filter((name) => !Object.hasOwn(fixed, name));
  if (validated.faults.length + ofFixed.length + unknown.length > 0) {
    const faults = [...(await allFaultsOf(validated)), ...ofFixed];
    throw validationError(faultsIn({ faults, unknown }, FIELD));
  }
  return validated.instance;
}

/** Returns the faults of values, and of the first unknown names. The last message lists the known ones. */
export function faultsIn(
  { faults, unknown }: Pick<Validated<object>, 'faults' | 'unknown'>,
  { noun }: InputDescription,
  known: readonly string[] = [],
): readonly Fault[] {
  if (unknown.length === 0) return faults;
  const names = unknown.slice(0, MAX_UNKNOWN_NAMES).map(printable);
  const list = known.length > 0 ? ` (known: ${known.join(', ')})` : '';
  const ofNames = names.map((field, index): Fault => {
    const message = `unknown ${noun}: ${field}${index === names.length - 1 ? list : ''}`;
    return { field, rule: 'unknown', params: {}, message, logged: `unknown ${noun}` };
  });
  return [...faults, ...ofNames];
}

/** Returns a name in a form that is safe in a message: short, and printable ASCII. */
function printable(name: string): string {
  return name.slice(0, MAX_NAME_LENGTH).replace(/[^\x20-\x7e]/g, '?');
}
