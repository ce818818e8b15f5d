import { createParamDecorator, type ExecutionContext, type Type } from '@nestjs/common';
import type { Request, Response } from 'express';
import { DomainError } from '../../errors/src/index.js';
import {
  addValue,
  type CorrectionRules,
  propertiesOf,
  Rule,
  type RuleFunction,
  validateBody,
  validate,
} from './validate.js';
import { headerValues, rulesOf } from '../../request-state/src/index.js';
import { receiveJsonObject } from './json-body.js';

// These are not pipes, because a host's global pipes would run first, with the whole request. Their
// types are explicit because Nest 11 lacks the types that Nest 12 infers.

/**
 * Injects the JSON body as a validated instance of the DTO. The body is read after the guards have run. By the rules of
 * a correction for the parameters of the path it may have fixed members, which are not injected. A query on such a
 * route is refused.
 */
export function StrictBody(
  dto: Type<object>,
  rulesFor?: (parameters: Readonly<Record<string, unknown>>) => CorrectionRules,
): ParameterDecorator {
  const read = createParamDecorator(async (_data: unknown, context: ExecutionContext): Promise<unknown> => {
    const request = context.switchToHttp().getRequest<Request>();
    refuseQuery(request);
    const { bodyLimit: limit } = rulesOf(request);
    const parse = await receiveJsonObject(request, { limit });
    return validateBody(request, dto, parse(), rulesFor?.(request.params));
  });
  return read();
}

const PATCH_TYPES = ['application/merge-patch+json', 'application/json'];

/**
 * Injects a function that returns a JSON Merge Patch (RFC 7396), since a host's pipe may change objects. `validateBody`
 * checks the result of the patch. A query on such a route is refused.
 */
export const MergePatch: () => ParameterDecorator = createParamDecorator(
  async (_data: unknown, context: ExecutionContext) => {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    refuseQuery(request);
    try {
      const { bodyLimit: limit } = rulesOf(request);
      const parse = await receiveJsonObject(request, { limit, types: PATCH_TYPES });
      const patch = parse();
      return () => patch;
    } catch (error) {
      // RFC 5789, section 2.2.
      if (error instanceof DomainError && error.code === 'UNSUPPORTED_MEDIA_TYPE')
        http.getResponse<Response>().setHeader('Accept-Patch', PATCH_TYPES.join(', '));
      throw error;
    }
  },
);

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

/** Injects a path parameter that its rule has checked. A query on such a route is refused. */
export function StrictPath(name: string, rule: RuleFunction): ParameterDecorator {
  class PathParameters {}
  Rule(rule)(PathParameters.prototype, name);
  const read = createParamDecorator((_data: unknown, context: ExecutionContext): unknown => {
    const { params, originalUrl } = context.switchToHttp().getRequest<Request>();
    const { values } = readQuery(originalUrl);
    const repeated = new Set(Object.keys(values).filter((key) => key === name));
    const input = { ...values, [name]: params[name] };
    return Reflect.get(validate(PathParameters, input, { noun: 'parameter', repeated }), name);
  });
  return read();
}

/** Injects the headers of the DTO as a validated instance of it. Other headers are ignored. */
export const StrictHeaders: (dto: Type<object>) => ParameterDecorator = createParamDecorator(
  (dto: Type<object>, context: ExecutionContext) => {
    const request = context.switchToHttp().getRequest<Request>();
    const values: Record<string, string> = {};
    const repeated = new Set<string>();
    for (const name of propertiesOf(dto).keys()) {
      const [value, second] = headerValues(request, name.toLowerCase());
      if (value === undefined) continue;
      values[name] = value;
      if (second !== undefined) repeated.add(name);
    }
    return validate(dto, values, { noun: 'header', repeated });
  },
);

class NoParameters {}

/** Throws DomainError VALIDATION_ERROR if a request with a body has a query, which nothing would read. */
export function refuseQuery({ originalUrl }: { readonly originalUrl: string }): void {
  if (originalUrl.includes('?')) validate(NoParameters, readQuery(originalUrl).values, { noun: 'parameter' });
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
