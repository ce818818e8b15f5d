import { ValidateBy, type ValidationArguments } from 'class-validator';

/**
 * A rule: returns what is wrong with a value, as a message for the caller, or undefined. It may read the whole DTO.
 */
export type Rule<T = never> = (value: unknown, dto: T) => string | undefined;

/** Makes class-validator check a property of a DTO by a rule. */
export function Obeys<T = never>(rule: Rule<T>): PropertyDecorator {
  const verdict = (args: ValidationArguments | undefined) => args && rule(args.value, args.object as T);
  return ValidateBy({
    name: 'obeys',
    validator: {
      validate: (_value: unknown, args) => verdict(args) === undefined,
      defaultMessage: (args) => verdict(args) ?? '',
    },
  });
}
