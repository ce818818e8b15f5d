import { applyDecorators, createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { SecurityRequirement } from '../../open-api/src/index.js';
import { type Caller, RequestState, type Stateful, STATE } from '../../strict-request/src/index.js';
import { checkAttributeBinding } from './attribute-binding.js';
import { checkProjectBinding } from './project-binding.js';

export type { Caller };

/** A function that returns the caller of a request or message; undefined if it has none. */
export type CallerResolver = (context: ExecutionContext) => Caller | undefined | Promise<Caller | undefined>;

/**
 * Stores the caller with the request, or with the data of the message. Returns the stored caller,
 * whose projects are distinct and in lower case. Throws an Error for an invalid caller, which nobody but the host
 * can correct.
 */
export function storeCaller<C extends Caller>(context: ExecutionContext, caller: C): C {
  const fault = faultOf(caller);
  if (fault !== undefined)
    throw new Error(
      `the property ${fault}: return { id: 'ada', scopes: ['time-logs:read'] }, without id if there is none, or undefined for no caller`,
    );
  const stored =
    caller.projects === undefined && caller.attributes === undefined ? caller : withValidBounds(caller);
  (context.getArgByIndex<Stateful>(0)[STATE] ??= new RequestState()).caller = stored;
  return stored;
}

/** Returns the fault of a caller from the code of a host, which may be any value. */
function faultOf(caller: unknown): string | undefined {
  const { id, scopes } = Object(caller) as Partial<Record<keyof Caller, unknown>>;
  if (!Array.isArray(scopes) || !scopes.every((scope) => typeof scope === 'string'))
    return 'scopes of a caller is not an array of strings';
  if (id === undefined || (typeof id === 'string' && id !== '' && !id.includes('\0'))) return undefined;
  return 'id of a caller is not a text of at least one character, without U+0000';
}

function withValidBounds<C extends Caller>(caller: C): C {
  // The spread omits properties that a host's caller inherits from its class.
  const { id, scopes, projects, attributes } = caller;
  return {
    ...caller,
    id,
    scopes,
    ...(projects !== undefined && { projects: checkProjectBinding(projects) }),
    ...(attributes !== undefined && checkAttributeBinding(attributes)),
  };
}

/** Returns the caller that a guard stored with a request or with the data of a message. */
export function callerOf(requestOrData: object): Caller | undefined {
  return (requestOrData as Stateful)[STATE]?.caller;
}

/** Injects the caller of a message. */
export const MessageCaller: () => ParameterDecorator = createParamDecorator(
  (_data: unknown, context: ExecutionContext) => callerOf(context.switchToRpc().getData<object>()),
);

/**
 * The scopes that a token must have, as metadata for the guards. All builds in a process share its
 * key: otherwise the guard of one build would miss the scopes of another and let every caller pass.
 */
const RequiredScopes = Reflector.createDecorator<readonly string[]>({ key: 'time-logs.scopes' });

/** Sets the scopes that a route or a controller requires. Without it any valid token is enough. */
export function Scopes(scopes: readonly string[]): ClassDecorator & MethodDecorator {
  return applyDecorators(RequiredScopes(scopes), SecurityRequirement({ bearer: scopes }));
}

/** Returns the scopes of a route as text if the caller lacks one of them, else undefined. */
export function missingScopes(
  reflector: Reflector,
  caller: Caller,
  context: ExecutionContext,
): string | undefined {
  const targets = [context.getHandler(), context.getClass()];
  const required =
    (reflector.getAllAndOverride(RequiredScopes, targets) as readonly string[] | undefined) ?? [];
  return required.every((scope) => caller.scopes.includes(scope)) ? undefined : required.join(' ');
}
