import { withinDeadline } from './deadline.js';
import { stateOf } from './request-state.js';
import { checkInput, type CheckResult, type InputDescription } from './validate.js';

/** Checks an input by its DTO, and its extra field by that field's rule, whose faults come last. */
export async function checkWithExtraField<T extends object>(
  request: object,
  dto: new () => T,
  input: object,
  description: InputDescription,
): Promise<CheckResult<T>> {
  const checked = checkInput(dto, input, description);
  const state = stateOf(request);
  state.checkedValues = { ...(checked.instance as Record<string, unknown>) };
  const { extraField } = state;
  if (extraField?.dto !== dto) return checked;
  const { name, rule } = extraField;
  const value: unknown = Object.hasOwn(input, name) ? Reflect.get(input, name) : undefined;
  const result = await withinDeadline(request, rule(value));
  state.extraFieldResult = result;
  return {
    instance: checked.instance,
    faults: [...checked.faults, ...result.faults],
    logged: [...checked.logged, ...(result.logged ?? result.faults)],
    unknown: checked.unknown.filter((unknown) => unknown !== name),
  };
}
