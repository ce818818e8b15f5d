import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Allow, getMetadataStorage, IsOptional, IsString, ValidateIf, validateSync } from 'class-validator';
import { faultOf } from '../../errors/src/index.js';
import { meetsConstraints, Omittable, Rule, validate } from './validate.js';

const text = (name: string) => (value: unknown) =>
  typeof value === 'string' ? undefined : faultOf(name, value, 'type', 'must be a string');

class Dto {
  @Rule(text('second'))
  second!: string;

  @Rule(text('first'))
  first = 'default';

  @IsOptional()
  @Rule(text('maybe'))
  @Rule((value, { first }: Dto) =>
    value === first ? faultOf('maybe', value, 'other', 'must differ from first') : undefined,
  )
  maybe?: string;

  summary(): string {
    return `${this.second} ${this.first}`;
  }
}

const field = { noun: 'field' } as const;

function refusalOf(input: object, repeated = new Set<string>()): unknown {
  try {
    return validate(Dto, input, { ...field, repeated });
  } catch (error) {
    return error;
  }
}
const messageOf = (input: object, repeated?: Set<string>) => (refusalOf(input, repeated) as Error).message;

describe('validate', () => {
  it('returns an instance with the values, and defaults for missing values', () => {
    const dto = validate(Dto, { second: 'b' }, field);
    expect(dto).toBeInstanceOf(Dto);
    expect([dto.summary(), dto.maybe]).toEqual(['b default', undefined]);
  });

  it.each([
    [
      'each invalid value once, in the order of the fields',
      { maybe: 1, first: null, second: 2 },
      'second must be a string; first must be a string; maybe must be a string',
    ],
    [
      'the fault of a rule that reads other values',
      { second: 'b', first: 'a', maybe: 'a' },
      'maybe must differ from first',
    ],
    [
      'undefined for a field with a default, which is not the same as a missing field',
      { second: 'b', first: undefined },
      'first must be a string',
    ],
    ['unknown members last', { other: 1, second: 2 }, 'second must be a string; unknown field: other'],
    [
      'at most three unknown members, each with at most 40 characters',
      { second: 'b', ['a'.repeat(41)]: 1, b: 1, c: 1, d: 1 },
      `unknown field: ${'a'.repeat(40)}; unknown field: b; unknown field: c`,
    ],
    [
      'names of Object.prototype and methods of the DTO as unknown',
      JSON.parse('{"second":"b","__proto__":{"first":"x"},"constructor":1,"summary":2}') as object,
      'unknown field: __proto__; unknown field: constructor; unknown field: summary',
    ],
    ['inherited members as missing', Object.create({ second: 'b' }) as object, 'second must be a string'],
  ])('reports %s', (_what, input, message) => {
    expect(messageOf(input)).toBe(message);
  });

  it('reports inherited fields before its own, also if it declares them again', () => {
    class Child extends Dto {
      @Rule((value) => (value === 'c' ? undefined : faultOf('third', value, 'c', 'must be c')))
      third?: string;

      @Rule((value) => (value === '' ? faultOf('second', value, 'length', 'must not be empty') : undefined))
      override second = '';
    }
    const messages = () => validate(Child, {}, field);
    expect(messages).toThrow(
      expect.objectContaining({ message: 'second must not be empty; third must be c' }),
    );
  });

  it('lists the known members once, after the unknown ones, if it is asked to', () => {
    const description = { noun: 'parameter', listsKnown: true } as const;
    const known = 'known: second, first, maybe';
    for (const [input, message] of [
      [{ second: 'b', x: '1', y: '2' }, `unknown parameter: x; unknown parameter: y (${known})`],
      [{ second: 2 }, 'second must be a string'],
    ] as const)
      expect(() => validate(Dto, input, description)).toThrow(expect.objectContaining({ message }));
  });

  it('replaces the characters of a name that are not printable ASCII', () => {
    expect(messageOf({ second: 'b', 'é\r\n\0\x7f~ ': 1 })).toMatch(/^unknown field: [\x20-\x7e]*~ $/);
  });

  it('never includes a value in a message', () => {
    const refusal = refusalOf({ second: ['secret'], maybe: 7919, other: 'secret' });
    expect(refusal).toMatchObject({ code: 'VALIDATION_ERROR' });
    expect((refusal as Error).message).not.toMatch(/secret|7919/);
  });

  it.each(['b', 1])('refuses a repeated member, whatever its value: %p', (second) => {
    expect(messageOf({ second }, new Set(['second']))).toBe('second must not be repeated');
  });
});

const isText = (value: unknown) =>
  typeof value === 'string' ? undefined : faultOf('', value, 'type', 'must be a string');

class Base {
  @Rule((value, { other }: Base) =>
    value === other ? faultOf('field', value, 'other', 'must differ from other') : undefined,
  )
  @Rule(isText)
  field: unknown;

  @Allow()
  other: unknown;
}

class Conditional extends Base {
  @Omittable()
  @Rule(isText)
  omittable: unknown;

  @IsOptional()
  @Rule(isText)
  optional: unknown;

  @ValidateIf((dto: Conditional) => dto.other === 1)
  @ValidateIf((_dto, value) => value !== 1)
  @Rule(isText)
  conditional: unknown;
}

describe('meetsConstraints', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('agrees with class-validator on conditions and rules, also inherited ones', () => {
    const met = new Set<boolean>();
    for (const name of ['field', 'omittable', 'optional', 'conditional'])
      for (const other of [1, 'a'])
        for (const value of [undefined, null, 1, '', 'a', {}]) {
          const dto = Object.assign(new Conditional(), {
            field: 'b',
            conditional: 'a',
            other,
            [name]: value,
          });
          const isMet = meetsConstraints(Conditional, dto);
          expect([name, other, value, isMet]).toEqual([name, other, value, validateSync(dto).length === 0]);
          met.add(isMet);
        }
    expect(met.size).toBe(2);
  });

  it('throws for a decorator that it would not obey', () => {
    class Foreign {
      @IsString()
      field: unknown;
    }
    expect(() => meetsConstraints(Foreign, new Foreign())).toThrow('Foreign.field must have only Rule');
  });

  it('searches for the rules of a DTO once', () => {
    const search = jest.spyOn(getMetadataStorage(), 'getTargetValidationMetadatas');
    class Once {
      @Rule(isText)
      field = 'a';
    }
    for (let i = 0; i < 3; i++) expect(meetsConstraints(Once, new Once())).toBe(true);
    expect(search).toHaveBeenCalledTimes(1);
  });
});
