import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { soundProjects } from './projects.js';

/** Who acts through a request or a message. */
export interface Caller {
  /** A stable identifier. Without one the caller cannot own idempotency keys. */
  readonly id?: string | undefined;
  readonly scopes: readonly string[];
  /** The projects that the caller is bound to, as UUIDs; undefined: all. */
  readonly projects?: readonly string[] | undefined;
}

/** Finds the caller of a request or message, which another guard has let pass. Undefined: it is nobody's. */
export type CallerOf = (context: ExecutionContext) => Caller | undefined | Promise<Caller | undefined>;

const CALLER = Symbol.for('time-logs.caller');

interface Called {
  [CALLER]?: Caller;
}

/**
 * Keeps the caller with the request, or with the data of the message. Returns whom it has kept: one with a sound set of
 * projects, whatever a host gave.
 */
export function keepCaller<C extends Caller>(context: ExecutionContext, caller: C): C {
  const called = context.getArgByIndex<Called>(0);
  const kept = caller.projects === undefined ? caller : bound(caller);
  called[CALLER] = kept;
  return kept;
}

function bound<C extends Caller>(caller: C): C {
  // A host's caller may be of a class, and have these from its prototype.
  const { id, scopes, projects } = caller;
  return { ...caller, id, scopes, projects: soundProjects(projects, 'its set of projects') };
}

/** The caller that a guard has kept with a request or with the data of a message. */
export function callerOf(called: object): Caller | undefined {
  return (called as Called)[CALLER];
}

/** The caller of a message. */
export const MessageCaller: () => ParameterDecorator = createParamDecorator(
  (_data: unknown, context: ExecutionContext) => callerOf(context.switchToRpc().getData<object>()),
);
