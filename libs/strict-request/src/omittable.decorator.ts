import { ValidateIf } from 'class-validator';

/** Makes a member optional. Unlike class-validator's IsOptional it does not accept `null`. */
export function Omittable(): PropertyDecorator {
  return ValidateIf((_dto, value) => value !== undefined);
}
