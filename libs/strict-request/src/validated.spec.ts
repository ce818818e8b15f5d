import { describe, expect, it } from '@jest/globals';
import { IsOptional } from 'class-validator';
import { Obeys } from './obeys.decorator.js';
import { validated } from './validated.js';

const text = (name: string) => (value: unknown) =>
  typeof value === 'string' ? undefined : `${name} must be a string`;

class Dto {
  @Obeys(text('second'))
  second!: string;

  @Obeys(text('first'))
  first = 'default';

  @IsOptional()
  @Obeys(text('maybe'))
  @Obeys((value, { first }: Dto) => (value === first ? 'maybe must differ from first' : undefined))
  maybe?: string;

  note(): string {
    return `${this.second} ${this.first}`;
  }
}

const field = { member: 'field' } as const;

function refusalOf(input: object, repeated = new Set<string>()): unknown {
  try {
    return validated(Dto, input, { ...field, repeated });
  } catch (error) {
    return error;
  }
}
const messageOf = (input: object, repeated?: Set<string>) => (refusalOf(input, repeated) as Error).message;

describe('validated', () => {
  it('makes an instance with the values, and defaults for those that are absent', () => {
    const dto = validated(Dto, { second: 'b' }, field);
    expect(dto).toBeInstanceOf(Dto);
    expect([dto.note(), dto.maybe]).toEqual(['b default', undefined]);
  });

  it('refuses with VALIDATION_ERROR', () => {
    expect(refusalOf({})).toMatchObject({ code: 'VALIDATION_ERROR', message: 'second must be a string' });
  });

  it.each([
    [
      'each failing value once, in the order of the fields',
      { maybe: 1, first: null, second: 2 },
      'second must be a string; first must be a string; maybe must be a string',
    ],
    [
      'what a rule finds in other values',
      { second: 'b', first: 'a', maybe: 'a' },
      'maybe must differ from first',
    ],
    [
      'undefined where a default stands for absence alone',
      { second: 'b', first: undefined },
      'first must be a string',
    ],
    ['null there', { second: 'b', first: null }, 'first must be a string'],
    ['unknown members last', { other: 1, second: 2 }, 'second must be a string; unknown field: other'],
    [
      'at most three unknown members, each cut at 40 characters',
      { second: 'b', ['a'.repeat(41)]: 1, b: 1, c: 1, d: 1 },
      `unknown field: ${'a'.repeat(40)}; unknown field: b; unknown field: c`,
    ],
    [
      'names of Object.prototype and methods of the DTO as unknown',
      JSON.parse('{"second":"b","__proto__":{"first":"x"},"constructor":1,"note":2}') as object,
      'unknown field: __proto__; unknown field: constructor; unknown field: note',
    ],
    ['inherited members as absent', Object.create({ second: 'b' }) as object, 'second must be a string'],
  ])('names %s', (_what, input, message) => {
    expect(messageOf(input)).toBe(message);
  });

  it('tells of inherited fields before its own, also of those that it has declared again', () => {
    class Child extends Dto {
      @Obeys((value) => (value === 'c' ? undefined : 'third must be c'))
      third?: string;

      @Obeys((value) => (value === '' ? 'second must not be empty' : undefined))
      override second = '';
    }
    const messages = () => validated(Child, {}, field);
    expect(messages).toThrow(
      expect.objectContaining({ message: 'second must not be empty; third must be c' }),
    );
  });

  it('calls a member what it is', () => {
    const refusal: unknown = expect.objectContaining({ message: 'unknown parameter: x' });
    expect(() => validated(Dto, { second: 'b', x: '1' }, { member: 'parameter' })).toThrow(refusal);
  });

  it('shows of a name only what is printable ASCII', () => {
    expect(messageOf({ second: 'b', 'é\r\n\0\x7f~ ': 1 })).toMatch(/^unknown field: [\x20-\x7e]*~ $/);
  });

  it('never repeats a value', () => {
    expect(messageOf({ second: ['secret'], maybe: 7919, other: 'secret' })).not.toMatch(/secret|7919/);
  });

  it.each(['b', 1])('refuses a repeated member, whatever its value: %p', (second) => {
    expect(messageOf({ second }, new Set(['second']))).toBe('second must not be repeated');
  });

  it('does not let one call change the next', () => {
    const dto = validated(Dto, { second: 'b', first: 'a' }, field);
    expect(validated(Dto, { second: 'c' }, field)).toEqual({ second: 'c', first: 'default' });
    expect(dto).toEqual({ second: 'b', first: 'a' });
  });
});
