import { ValidateBy, type ValidationArguments } from 'class-validator';

/** A rule: what is wrong with a value, as a message for the caller; undefined where nothing is. May look at the whole DTO. */
export type Rule<T = never> = (value: unknown, dto: T) => string | undefined;

/** Binds a rule to a DTO's property, for class-validator to decide. */
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
