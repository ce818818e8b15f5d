import { afterEach, describe, expect, it, jest } from '@jest/globals';
import {
  Allow,
  getMetadataStorage,
  IsDefined,
  IsOptional,
  IsString,
  Length,
  ValidateIf,
  ValidateNested,
  validateSync,
} from 'class-validator';
import { faultOf } from '../../errors/src/index.js';
import { meetsConstraints, Omittable, Rule } from './constraints.js';

class Inner {
  @IsString()
  text: unknown;
}

class Base {
  @Rule((value, { other }: Base) =>
    value === other ? faultOf('field', value, 'other', 'must differ from other') : undefined,
  )
  @IsString()
  field: unknown;

  @Allow()
  other: unknown;
}

class Plain extends Base {
  @Omittable()
  @Length(1, 3)
  omittable: unknown;

  @IsOptional()
  @IsString()
  optional: unknown;

  @ValidateIf((dto: Plain) => dto.other === 1)
  @ValidateIf((_dto, value) => value !== 1)
  @IsString()
  conditional: unknown;
}

// One DTO for each kind of decorator that only class-validator itself checks.
class Each {
  @IsString({ each: true })
  field: unknown;
}
class Nested {
  @ValidateNested()
  field: unknown;
}
class Defined {
  @IsDefined()
  field: unknown;
}
class Dependent {
  @IsString({ validateIf: (_dto, value) => value !== 1 })
  field: unknown;
}

const VALUES = [
  undefined,
  null,
  1,
  '',
  'a',
  'long',
  {},
  ['a'],
  [1],
  Object.assign(new Inner(), { text: 'a' }),
];

function instance<T extends object>(dto: new () => T, values: object): T {
  return Object.assign(new dto(), values);
}

describe('meetsConstraints', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('agrees with class-validator on conditions and constraints, also inherited ones', () => {
    let met = 0;
    for (const name of ['field', 'omittable', 'optional', 'conditional'])
      for (const other of [1, 'a'])
        for (const value of VALUES) {
          const dto = instance(Plain, { field: 'b', conditional: 'a', other, [name]: value });
          const isMet = meetsConstraints(Plain, dto);
          expect([name, other, value, isMet]).toEqual([name, other, value, validateSync(dto).length === 0]);
          if (isMet) met++;
        }
    expect(met).toBeGreaterThan(20);
    expect(met).toBeLessThan(60);
  });

  it.each([Each, Nested, Defined, Dependent])('is false if class-validator refuses: %p', (dto) => {
    for (const field of VALUES) {
      const object = instance<object>(dto, { field });
      if (validateSync(object).length > 0) expect(meetsConstraints(dto, object)).toBe(false);
    }
  });

  it('searches for the constraints of a DTO once', () => {
    const search = jest.spyOn(getMetadataStorage(), 'getTargetValidationMetadatas');
    class Once {
      @IsString()
      field = 'a';
    }
    for (let i = 0; i < 3; i++) expect(meetsConstraints(Once, new Once())).toBe(true);
    expect(search).toHaveBeenCalledTimes(1);
  });
});
