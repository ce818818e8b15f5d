import { ValidateIf } from 'class-validator';

/** For a member that may be left out; `null` is not left out, where class-validator's IsOptional lets it pass. */
export function Omittable(): PropertyDecorator {
  return ValidateIf((_dto, value) => value !== undefined);
}
