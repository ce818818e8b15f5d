import { validateSync } from 'class-validator';
import { type Fault, faultOf, throwFaults } from '../../errors/src/index.js';
import { meetsConstraints, propertiesOf } from './constraints.js';
import { type CheckedInput, type Served, STATE, withinDeadline } from './request-state.js';

type Dto<T> = new () => T;

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
export interface CheckResult<T> {
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
  const checked = checkInput(dto, input, description);
  throwFaults(faultsIn(checked, description, description.listsKnown ? [...propertiesOf(dto).keys()] : []));
  return checked.instance;
}

/** Returns an instance of the DTO with the input's values, and their faults. */
export function checkInput<T extends object>(
  dto: Dto<T>,
  input: object,
  { repeated, malformed }: InputDescription,
): CheckResult<T> {
  const properties = propertiesOf(dto);
  const instance = new dto();
  for (const name of properties.keys()) {
    if (Object.hasOwn(input, name))
      (instance as Record<string, unknown>)[name] = (input as Record<string, unknown>)[name];
  }
  const errors = meetsConstraints(dto, instance) ? [] : validateSync(instance, { stopAtFirstError: true });
  const faults: Fault[] = [];
  for (const [name, { rules }] of properties) {
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
  return { instance, faults, unknown: Object.keys(input).filter((name) => !properties.has(name)) };
}

/**
 * Checks an input by its DTO, and its extra field by that field's rule, whose faults come last. It
 * keeps the checked values in the state of the request, or of one object of a batch.
 */
export async function checkWithExtraField<T extends object>(
  request: Served,
  dto: Dto<T>,
  input: object,
  description: InputDescription,
  state: CheckedInput = request[STATE],
): Promise<CheckResult<T>> {
  const checked = checkInput(dto, input, description);
  state.checkedValues = { ...(checked.instance as Record<string, unknown>) };
  const { extraField, caller } = request[STATE];
  if (extraField === undefined) return checked;
  const { name, rule } = extraField;
  const value: unknown = Object.hasOwn(input, name) ? Reflect.get(input, name) : undefined;
  const isOptional = dto.prototype instanceof extraField.dto;
  if (dto !== extraField.dto && !(isOptional && value !== undefined)) return checked;
  const result = await withinDeadline(request, rule(value, caller));
  state.extraFieldResult = result;
  return {
    instance: checked.instance,
    faults: [...checked.faults, ...result.faults],
    unknown: checked.unknown.filter((unknown) => unknown !== name),
  };
}

/** The rules of members that a body may repeat, but not change. */
export type FixedMembers = Readonly<Record<string, (value: unknown) => Fault | undefined>>;

/**
 * Returns an instance of the DTO with the values of a body, without its fixed members, whose faults come last. Throws
 * like `validate`.
 */
export async function checkBody<T extends object>(
  request: Served,
  dto: Dto<T>,
  body: object,
  fixed: FixedMembers = {},
): Promise<T> {
  const { instance, faults, unknown } = await checkWithExtraField(request, dto, body, FIELD);
  const ofFixed = Object.entries(fixed).flatMap(([name, rule]) =>
    Object.hasOwn(body, name) ? (rule(Reflect.get(body, name)) ?? []) : [],
  );
  const others = unknown.filter((name) => !Object.hasOwn(fixed, name));
  throwFaults(faultsIn({ faults: [...faults, ...ofFixed], unknown: others }, FIELD));
  return instance;
}

/** Returns the faults of values, and of the first unknown names. The last message lists the known ones. */
export function faultsIn(
  { faults, unknown }: Pick<CheckResult<object>, 'faults' | 'unknown'>,
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
