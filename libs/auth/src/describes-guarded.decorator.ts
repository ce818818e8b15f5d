import { Reflector } from '@nestjs/core';
import { Describes, type Operation, type ResponseObject, type Responses } from '../../open-api/src/index.js';
import { guardAnswers, RATE_LIMIT_ANSWERS, RATE_LIMIT_HEADERS } from './auth.documentation.js';
import { OpenRoute } from './open.decorator.js';
import { RequiredScopes } from './scopes.decorator.js';
import { Unlimited } from './unlimited.decorator.js';

/** An operation of a route with the guard. */
export interface GuardedOperation extends Operation {
  /** Messages of `403` for a caller who has the scopes. */
  readonly refusals?: readonly string[];
}

const reflector = new Reflector();

/**
 * Describes a route of a controller with the guard. What the guard and the rate limit may answer need not be said: it
 * follows from `@Scopes`, `@Open` and `@Unlimited` of the route. They stand below it, since decorators run from below.
 */
export function DescribesGuarded({ refusals, ...operation }: GuardedOperation): MethodDecorator {
  return (prototype, name, route) => {
    const responses = withAccess(operation.responses, route.value as () => unknown, refusals);
    Describes({ ...operation, responses })(prototype, name, route);
  };
}

/** The answers of a route, with those that follow from who may call it. What the route itself says comes first. */
function withAccess(given: Responses, route: () => unknown, refusals?: readonly string[]): Responses {
  if (reflector.get(OpenRoute, route)) return given;
  const guarded = { ...guardAnswers(reflector.get(RequiredScopes, route), refusals), ...given };
  return reflector.get(Unlimited, route) ? guarded : withRateLimit(guarded);
}

function withRateLimit(answers: Responses): Responses {
  const limited = Object.entries(answers).map(([status, answer]) => [
    status,
    Number(status) < 300 ? { ...answer, headers: { ...answer.headers, ...RATE_LIMIT_HEADERS } } : answer,
  ]);
  return { ...RATE_LIMIT_ANSWERS, ...(Object.fromEntries(limited) as Responses) };
}

/** The answers of a route in an app without a rate limit. */
export function withoutRateLimit(answers: Responses): Responses {
  const unlimited = Object.entries(answers)
    .filter(([status]) => !(status in RATE_LIMIT_ANSWERS))
    .map(([status, { headers = {}, ...answer }]: [string, ResponseObject]) => {
      const kept = Object.entries(headers).filter(([name]) => !(name in RATE_LIMIT_HEADERS));
      return [status, { ...answer, headers: Object.fromEntries(kept) }];
    });
  return Object.fromEntries(unlimited) as Responses;
}
