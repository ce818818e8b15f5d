import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { type Caller, stateOf } from '../../request-state/src/index.js';

export type { Caller };

/** A function that returns the caller of a request or message; undefined if it has none. */
export type CallerResolver = (
  context: ExecutionContext,
) => Caller | null | undefined | Promise<Caller | null | undefined>;

/** Returns the caller that a guard stored with a request or with the data of a message. */
export function callerOf(requestOrData: object): Caller | undefined {
  return stateOf(requestOrData).caller;
}

/** Injects the caller of a message. */
export const MessageCaller: () => ParameterDecorator = createParamDecorator(
  (_data: unknown, context: ExecutionContext) => callerOf(context.switchToRpc().getData<object>()),
);
