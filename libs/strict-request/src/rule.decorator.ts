import { ValidateBy, type ValidationArguments } from 'class-validator';

/** A rule that returns an error message for the client, or undefined. It may read the whole DTO. */
export type RuleFunction<T = never> = (value: unknown, dto: T) => string | undefined;

/** Makes class-validator check a property of a DTO by a rule. */
export function Rule<T = never>(rule: RuleFunction<T>): PropertyDecorator {
  const faultOf = (args: ValidationArguments | undefined) => args && rule(args.value, args.object as T);
  return ValidateBy({
    name: 'rule',
    validator: {
      validate: (_value: unknown, args) => faultOf(args) === undefined,
      defaultMessage: (args) => faultOf(args) ?? '',
    },
  });
}
