import { createParamDecorator, type ExecutionContext, type Type } from '@nestjs/common';
import type { Request } from 'express';
import { addValue, Rule, type RuleFunction, validate } from './validate.js';
import { rulesOf } from '../../request-state/src/index.js';

// These are not pipes, because a host's global pipes would run first, with the whole request. Their
// types are explicit because Nest 11 lacks the types that Nest 12 infers.

/** Injects the query as a validated instance of the DTO. All values are strings. */
export const StrictQuery: (dto: Type<object>) => ParameterDecorator = createParamDecorator(
  (dto: Type<object>, context: ExecutionContext) => {
    const request = context.switchToHttp().getRequest<Request>();
    const { values, ...faults } = readQuery(request.originalUrl);
    const { addedMember } = rulesOf(request);
    const known = addedMember?.extend(dto) ?? dto;
    const query = validate(known, values, { noun: 'parameter', ...faults, listsKnown: true });
    if (addedMember) addValue(query, addedMember.name, addedMember.valueIn(query));
    return query;
  },
);

/** Injects a path parameter that its rule has checked. One error also refuses the parameters of a query. */
export function StrictPath(name: string, rule: RuleFunction): ParameterDecorator {
  class PathParameters {}
  Rule(rule)(PathParameters.prototype, name);
  const read = createParamDecorator((_data: unknown, context: ExecutionContext): unknown => {
    const { params, originalUrl } = context.switchToHttp().getRequest<Request>();
    const { values: refused } = readQuery(originalUrl);
    const repeated = new Set(name in refused ? [name] : []);
    const input = { ...refused, [name]: params[name] };
    return Reflect.get(validate(PathParameters, input, { noun: 'parameter', repeated }), name);
  });
  return read();
}

/**
 * Returns the values of a query, the names that occur more than once, and those whose values are not percent-encoded
 * UTF-8. Express's parser would lose repeated names and brackets, and URLSearchParams would make U+FFFD of other bytes.
 */
export function readQuery(url: string) {
  const start = url.indexOf('?');
  const values: Record<string, string> = Object.create(null) as Record<string, string>;
  const repeated = new Set<string>();
  const malformed = new Set<string>();
  for (const pair of start < 0 ? [] : url.slice(start + 1).split('&')) {
    if (pair === '') continue;
    const [sentName] = pair.split('=', 1) as [string];
    const sentValue = pair.slice(sentName.length + 1);
    // A name that cannot be decoded stays as it was sent, and is unknown.
    const name = decoded(sentName) ?? sentName;
    const value = decoded(sentValue);
    if (name in values) repeated.add(name);
    if (value === undefined) malformed.add(name);
    values[name] = value ?? '';
  }
  return { values, repeated, malformed };
}

/** Decodes a name or value of a query; undefined if it is not percent-encoded UTF-8 (RFC 3986, section 2.1). */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
