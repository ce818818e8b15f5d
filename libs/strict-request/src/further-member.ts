import type { Type } from '@nestjs/common';
import { withinDeadline } from './deadline.js';
import { stateOf } from './request-state.js';
import type { Checked } from './validated.js';

/** Adds the verdict on the further member of an input to what was found out about its DTO: its faults come last. */
export async function withFurtherMember<T>(
  request: object,
  dto: Type<object>,
  input: object,
  checked: Checked<T>,
): Promise<Checked<T>> {
  const state = stateOf(request);
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
