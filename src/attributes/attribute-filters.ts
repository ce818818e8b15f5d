import { isTooLong, MAX_ATTRIBUTE_LENGTH, MAX_ATTRIBUTE_NUMBER } from '../../libs/auth/src/index.js';
import { type Fault, faultOf } from '../../libs/errors/src/index.js';
import { type AddedMember } from '../../libs/request-state/src/index.js';
import { Omittable, Rule } from '../../libs/strict-request/src/index.js';
import {
  type AttributeFilters,
  type AttributeRules,
  type AttributeType,
  isPlainObject,
  textFault,
  TimeLogFilterDto,
} from '../time-log/index.js';
import { isExactText } from './json.js';

/** The maximum number of attributes in one filter. */
const MAX_VALUES = 3;
/** The rule of numbers that JavaScript reads as other ones. */
const INEXACT = `must be at most ${MAX_ATTRIBUTE_NUMBER} in magnitude, and exact as a double: use a string`;
const JSON_NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

const TYPES: Readonly<Record<AttributeType, readonly [isValid: (value: unknown) => boolean, rule: string]>> =
  {
    string: [(value) => typeof value === 'string', 'must be a string'],
    number: [Number.isFinite, 'must be a number'],
    integer: [Number.isInteger, 'must be a whole number'],
    boolean: [(value) => typeof value === 'boolean', 'must be true or false'],
    // A filter has one of the texts.
    strings: [(value) => typeof value === 'string', 'must be a string'],
  };

/** Returns the text of the rule for values of a type. */
export function ruleOfType(type: AttributeType): string {
  return TYPES[type][1];
}

/** Returns the faults of a filter from the code of a host. */
export function filterValuesFaults(filters: AttributeFilters, values: unknown): readonly Fault[] {
  // A Map or an array looks empty, and would match all logs.
  if (!isPlainObject(values))
    return [faultOf('attributes', values, 'type', 'must be a plain object', { type: 'object' })];
  const sent = Object.entries(values);
  if (!sent.every(([name]) => filters.has(name))) {
    const names = [...filters.keys()].join(', ').replace(/, (\w+)$/, ' and $1');
    return [faultOf('attributes', values, 'unknown', `may only have ${names}`)];
  }
  const faults = sent.map(([name, value]) => valueFault(name, filters.get(name)!, value));
  return [...faults, sent.length > MAX_VALUES ? TOO_MANY : undefined].filter((one) => one !== undefined);
}

const TOO_MANY = faultOf('attributes', null, 'count', `must be at most ${MAX_VALUES} in one filter`, {
  max: MAX_VALUES,
});

function valueFault(name: string, type: AttributeType, value: unknown): Fault | undefined {
  const field = `attributes.${name}`;
  const [isValid, typeRule] = TYPES[type];
  const isNumber = type === 'number' || type === 'integer';
  if (isNumber && typeof value === 'number' && Math.abs(value) > MAX_ATTRIBUTE_NUMBER)
    return faultOf(field, value, 'range', INEXACT, { min: -MAX_ATTRIBUTE_NUMBER, max: MAX_ATTRIBUTE_NUMBER });
  if (!isValid(value)) return faultOf(field, null, 'type', typeRule, { type });
  if (typeof value !== 'string') return undefined;
  const text = textFault(value);
  if (text !== undefined) return faultOf(field, value, 'characters', text);
  if (!isTooLong(value)) return undefined;
  const rule = `must be at most ${MAX_ATTRIBUTE_LENGTH} characters`;
  return faultOf(field, value, 'length', rule, { max: MAX_ATTRIBUTE_LENGTH });
}

/** Returns the value of a parameter: Infinity for a number that is not exact. In a message it may be JSON already. */
function parse(type: AttributeType, sent: unknown): unknown {
  if (type === 'string' || type === 'strings' || typeof sent !== 'string') return sent;
  if (type === 'boolean') return sent === 'true' ? true : sent === 'false' ? false : sent;
  if (!JSON_NUMBER.test(sent)) return sent;
  return isExactText(sent) ? Number(sent) : Infinity;
}

/** Returns the value of an attribute from its text in a query. Throws an Error that names its rule. */
export function parseAttribute(name: string, type: AttributeType, text: string): string | number | boolean {
  const value = parse(type, text);
  const fault = valueFault(name, type, value);
  if (fault) throw new Error(fault.message);
  return value as string | number | boolean;
}

type Dto = new () => object;

/** Returns the member of requests: attributes in bodies, and the query parameters `attributes.NAME` of filters. */
export function addedAttributes(rules: AttributeRules): AddedMember {
  const { filters } = rules;
  const parameters = [...filters].map(([name, type]) => ({ name, type, parameter: `attributes.${name}` }));
  const classes = new Map<Dto, Dto>();

  const faultIn = (index: number, value: unknown, query: object): Fault | undefined => {
    const { name, type } = parameters[index]!;
    const before = parameters
      .slice(0, index)
      .filter(({ parameter }) => textIn(query, parameter) !== undefined);
    return (
      valueFault(name, type, parse(type, value)) ?? (before.length === MAX_VALUES ? TOO_MANY : undefined)
    );
  };
  const extend = (dto: Dto): Dto => {
    class FilteredDto extends dto {
      get filters(): AttributeFilters {
        return filters;
      }
    }
    for (const [index, { parameter }] of parameters.entries()) {
      Rule<object>((value, query) => faultIn(index, value, query))(FilteredDto.prototype, parameter);
      Omittable()(FilteredDto.prototype, parameter);
    }
    return FilteredDto;
  };
  return {
    name: 'attributes',
    faultsOf: async (sent, caller) => (await rules.validate(sent, caller?.attributes)).faults,
    extend: <T extends object>(dto: new () => T) => {
      if (dto !== (TimeLogFilterDto as Dto) && !(dto.prototype instanceof TimeLogFilterDto)) return dto;
      const known = classes.get(dto) ?? extend(dto);
      classes.set(dto, known);
      return known as new () => T;
    },
    valueIn: (query) => {
      const values = parameters
        .map(({ name, type, parameter }) => [name, parse(type, textIn(query, parameter))] as const)
        .filter(([, value]) => value !== undefined);
      return values.length === 0 ? undefined : Object.fromEntries(values);
    },
  };
}

function textIn(query: object, parameter: string): unknown {
  return (query as Readonly<Record<string, unknown>>)[parameter];
}
