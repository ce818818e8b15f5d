import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { type Caller, type Stateful, STATE, stateOf } from '../../strict-request/src/index.js';
import { validBounds } from './bounds.js';

export type { Caller };

/** A function that returns the caller of a request or message; undefined if it has none. */
export type CallerResolver = (context: ExecutionContext) => Caller | undefined | Promise<Caller | undefined>;

/**
 * Stores the caller with a request, or with the data of a message. Returns the stored caller, whose projects are
 * distinct and in lower case. One with invalid bounds is bound to no project.
 */
export function storeCaller(requestOrData: object, caller: Caller): Caller {
  // A text has scopes as its parts, and a promise has none: both would let a request pass that they must not.
  if (!Array.isArray(caller.scopes)) throw new Error('the scopes of a caller are not an array');
  const isBound = caller.projects !== undefined || caller.attributes !== undefined;
  // The spread omits properties that a host's caller inherits from its class.
  const { id, scopes } = caller;
  const stored = isBound ? { ...caller, id, scopes, ...validBounds(caller) } : caller;
  stateOf(requestOrData).caller = stored;
  return stored;
}

/** Returns the caller that a guard stored with a request or with the data of a message. */
export function callerOf(requestOrData: object): Caller | undefined {
  return (requestOrData as Stateful)[STATE]?.caller;
}

/** Injects the caller of a message. */
export const MessageCaller: () => ParameterDecorator = createParamDecorator(
  (_data: unknown, context: ExecutionContext) => callerOf(context.switchToRpc().getData<object>()),
);
