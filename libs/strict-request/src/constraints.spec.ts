import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Allow, getMetadataStorage, IsOptional, IsString, ValidateIf, validateSync } from 'class-validator';
import { faultOf } from '../../errors/src/index.js';
import { meetsConstraints, Omittable, Rule } from './constraints.js';

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

class Dto extends Base {
  @Omittable()
  @Rule(isText)
  omittable: unknown;

  @IsOptional()
  @Rule(isText)
  optional: unknown;

  @ValidateIf((dto: Dto) => dto.other === 1)
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
          const dto = Object.assign(new Dto(), { field: 'b', conditional: 'a', other, [name]: value });
          const isMet = meetsConstraints(Dto, dto);
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
