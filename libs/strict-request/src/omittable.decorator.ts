import { ValidateIf } from 'class-validator';

/** For a member that may be left out. `null` does not count as left out; for class-validator's IsOptional it does. */
export function Omittable(): PropertyDecorator {
  return ValidateIf((_dto, value) => value !== undefined);
}
