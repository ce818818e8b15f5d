import type { DomainError } from '../../errors/src/index.js';

/** The caller on whose behalf a request or a message acts. */
export interface Caller {
  /** A stable identifier. Without one the caller cannot own idempotency keys. */
  readonly id?: string | undefined;
  readonly scopes: readonly string[];
  /** The projects that the caller is bound to, as UUIDs; undefined: all. */
  readonly projects?: readonly string[] | undefined;
}

/** A change that a request or a message makes. */
export interface NotedChange {
  /** The kind of change, in one word. */
  readonly kind: string;
  /** The id of the changed object. */
  readonly id: string;
}

/** The connection or broker that takes the answer to a request or message. */
export interface Outlet {
  /** Whether the client has gone away. */
  isClosed(): boolean;
  /** Resolves when all that was handed over has left the process or is lost. */
  sent(): Promise<unknown>;
  /** Drops what has not left yet. */
  close(): void;
}

/** The verdict of a rule on a member: its faults, and the output of the rule. */
export interface MemberVerdict {
  /** One message for the caller for each fault. */
  readonly faults: readonly string[];
  /** The same messages for the log, without names that the caller made up. */
  readonly logged?: readonly string[];
}

/** A member that the input of a DTO has in addition to those of the DTO. */
export interface FurtherMember {
  readonly dto: new () => object;
  readonly name: string;
  /** Decides on the value; undefined if the member is missing. */
  readonly rule: (value: unknown) => Promise<MemberVerdict>;
}

/** All that is kept with a request, or with the data of a message, while it is served. */
export class RequestState {
  /** The caller that a guard has let pass. */
  caller: Caller | undefined = undefined;
  /** The maximum size of the body in bytes. */
  bodyLimit: number | undefined = undefined;
  /** The rest of the time that it may wait, in milliseconds; undefined: it waits without a limit. */
  timeLeft: number | undefined = undefined;
  /** The member that its input may have in addition to the DTO. */
  member: FurtherMember | undefined = undefined;
  /** The values of its input as they were checked, without that member. */
  checked: Readonly<Record<string, unknown>> | undefined = undefined;
  /** The verdict on that member, once the input is checked. */
  memberVerdict: MemberVerdict | undefined = undefined;
  /** The change that it makes, for the access log. */
  change: NotedChange | undefined = undefined;
  /** Where the answer to a message goes. */
  outlet: Outlet | undefined = undefined;
  /** The fault of a message that was not read, which its caller learns after authentication. */
  fault: DomainError | undefined = undefined;

  /** Returns whether an input still has the values that were checked: pipes of a host may have changed it since. */
  isAsChecked(input: object): boolean {
    const { checked } = this;
    if (checked === undefined) return false;
    const entries = Object.entries(input);
    return (
      entries.length === Object.keys(checked).length &&
      entries.every(([name, value]) => Object.hasOwn(checked, name) && Object.is(value, checked[name]))
    );
  }
}

/** The same key in every build: a process may load ES modules and CommonJS. */
const STATE = Symbol.for('time-logs.request state');

interface Holder {
  [STATE]?: RequestState | undefined;
}

/** Returns the state of a request, or of a message by its data. */
export function stateOf(request: object): RequestState {
  return ((request as Holder)[STATE] ??= new RequestState());
}
