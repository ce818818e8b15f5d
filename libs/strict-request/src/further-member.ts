import type { Type } from '@nestjs/common';
import { withinDeadline } from './deadline.js';
import type { Checked } from './validated.js';

const MEMBER = Symbol.for('time-logs.further member of the input');
const VERDICT = Symbol.for('time-logs.verdict on the further member');

/** What a rule says about a member: its faults, and beside them what the rule has made of the value. */
export interface MemberVerdict {
  /** One message for each, for the caller. */
  readonly faults: readonly string[];
  /** The same for the log: without names that the caller made up. */
  readonly logged?: readonly string[];
}

/** A member that the input of a DTO has beside those of the DTO, where a module is told so when it starts. */
export interface FurtherMember {
  readonly dto: Type<object>;
  readonly name: string;
  /** What is said about the value; undefined where there is none. It may take its time. */
  readonly rule: (value: unknown) => Promise<MemberVerdict>;
}

interface Request {
  [MEMBER]?: FurtherMember;
  [VERDICT]?: MemberVerdict;
}

/** Lets the input of a request or message have a further member. To be called before the input is read. */
export function allowMember(request: object, member: FurtherMember): void {
  (request as Request)[MEMBER] = member;
}

/** The verdict on the further member of a request or message; undefined where it may have none. */
export function memberVerdictOf(request: object): MemberVerdict | undefined {
  return (request as Request)[VERDICT];
}

/** What was found out about an input, and also its further member: its faults come after those of the DTO. */
export async function withFurtherMember<T>(
  request: object,
  dto: Type<object>,
  input: object,
  checked: Checked<T>,
): Promise<Checked<T>> {
  const member = (request as Request)[MEMBER];
  if (member?.dto !== dto) return checked;
  const { name, rule } = member;
  const value: unknown = Object.hasOwn(input, name) ? Reflect.get(input, name) : undefined;
  const verdict = await withinDeadline(request, rule(value));
  (request as Request)[VERDICT] = verdict;
  return {
    instance: checked.instance,
    faults: [...checked.faults, ...verdict.faults],
    logged: [...checked.logged, ...(verdict.logged ?? verdict.faults)],
    unknown: checked.unknown.filter((unknown) => unknown !== name),
  };
}
