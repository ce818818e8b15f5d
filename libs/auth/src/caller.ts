import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { type Caller, stateOf } from '../../strict-request/src/index.js';
import { soundProjects } from './projects.js';

export type { Caller };

/** Finds the caller of a request or message, which another guard has let pass. Undefined: it is nobody's. */
export type CallerOf = (context: ExecutionContext) => Caller | undefined | Promise<Caller | undefined>;

/**
 * Keeps the caller with the request, or with the data of the message. Returns whom it has kept: one with a sound set of
 * projects, whatever a host gave.
 */
export function keepCaller<C extends Caller>(context: ExecutionContext, caller: C): C {
  const kept = caller.projects === undefined ? caller : bound(caller);
  stateOf(context.getArgByIndex<object>(0)).caller = kept;
  return kept;
}

function bound<C extends Caller>(caller: C): C {
  // A host's caller may be of a class, and have these from its prototype.
  const { id, scopes, projects } = caller;
  return { ...caller, id, scopes, projects: soundProjects(projects, 'its set of projects') };
}

/** The caller that a guard has kept with a request or with the data of a message. */
export function callerOf(called: object): Caller | undefined {
  return stateOf(called).caller;
}

/** The caller of a message. */
export const MessageCaller: () => ParameterDecorator = createParamDecorator(
  (_data: unknown, context: ExecutionContext) => callerOf(context.switchToRpc().getData<object>()),
);
