import { createParamDecorator, type ExecutionContext } from '@nestjs/common';

/** Who acts through a request or a message. */
export interface Caller {
  /** A stable identifier. Without one the caller cannot own idempotency keys. */
  readonly id?: string | undefined;
  readonly scopes: readonly string[];
}

/** Finds the caller of a request or message, which another guard has let pass. Undefined: it is nobody's. */
export type CallerOf = (context: ExecutionContext) => Caller | undefined | Promise<Caller | undefined>;

const CALLER = Symbol.for('time-logs.caller');

interface Called {
  [CALLER]?: Caller;
}

/** Keeps the caller with the request, or with the data of the message. */
export function keepCaller(context: ExecutionContext, caller: Caller): void {
  const called = context.getArgByIndex<Called>(0);
  called[CALLER] = caller;
}

/** The caller that a guard has kept with a request or with the data of a message. */
export function callerOf(called: object): Caller | undefined {
  return (called as Called)[CALLER];
}

/** The caller of a message. */
export const MessageCaller: () => ParameterDecorator = createParamDecorator(
  (_data: unknown, context: ExecutionContext) => callerOf(context.switchToRpc().getData<object>()),
);
