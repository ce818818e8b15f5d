import { withinDeadline } from './deadline.js';
import { stateOf } from './request-state.js';
import { check, type Checked, type Naming } from './validated.js';

/** Checks an input by its DTO, and its further member by the rule of that. Faults of the member come last. */
export async function checkWithMember<T extends object>(
  request: object,
  dto: new () => T,
  input: object,
  naming: Naming,
): Promise<Checked<T>> {
  const checked = check(dto, input, naming);
  const state = stateOf(request);
  state.checked = { ...(checked.instance as Record<string, unknown>) };
  const { member } = state;
  if (member?.dto !== dto) return checked;
  const { name, rule } = member;
  const value: unknown = Object.hasOwn(input, name) ? Reflect.get(input, name) : undefined;
  const verdict = await withinDeadline(request, rule(value));
  state.memberVerdict = verdict;
  return {
    instance: checked.instance,
    faults: [...checked.faults, ...verdict.faults],
    logged: [...checked.logged, ...(verdict.logged ?? verdict.faults)],
    unknown: checked.unknown.filter((unknown) => unknown !== name),
  };
}
