import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { type Caller, stateOf } from '../../strict-request/src/index.js';
import { parseProjectBinding } from './project-binding.js';

export type { Caller };

/** A function that returns the caller of a request or message; undefined if it has none. */
export type CallerResolver = (context: ExecutionContext) => Caller | undefined | Promise<Caller | undefined>;

/**
 * Stores the caller with the request, or with the data of the message. Returns the stored caller,
 * whose projects are valid whatever the host returned.
 */
export function storeCaller<C extends Caller>(context: ExecutionContext, caller: C): C {
  const stored = caller.projects === undefined ? caller : withValidProjects(caller);
  stateOf(context.getArgByIndex<object>(0)).caller = stored;
  return stored;
}

function withValidProjects<C extends Caller>(caller: C): C {
  // The spread omits properties that a host's caller inherits from its class.
  const { id, scopes, projects } = caller;
  return { ...caller, id, scopes, projects: parseProjectBinding(projects, 'its set of projects') };
}

/** Returns the caller that a guard stored with a request or with the data of a message. */
export function callerOf(requestOrData: object): Caller | undefined {
  return stateOf(requestOrData).caller;
}

/** Injects the caller of a message. */
export const MessageCaller: () => ParameterDecorator = createParamDecorator(
  (_data: unknown, context: ExecutionContext) => callerOf(context.switchToRpc().getData<object>()),
);
