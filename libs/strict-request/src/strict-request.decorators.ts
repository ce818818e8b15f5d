import { createParamDecorator, type ExecutionContext, type Type } from '@nestjs/common';
import type { Request } from 'express';
import { propertiesOf } from './constraints.js';
import { checkWithMember } from './further-member.js';
import { readHeaders } from './headers.js';
import { readJsonObject } from './json-body.js';
import { Obeys, type Rule } from './obeys.decorator.js';
import { readQuery } from './query.js';
import { type Naming, requireFaultless, validated } from './validated.js';

// These are no pipes: a host's global pipes run before a parameter's own, and would get the whole request. Their
// types are written out: those that Nest 12 gives them are unknown to Nest 11.

/**
 * The JSON body as a validated instance of the DTO, read after the guards have run. The body may have the further member
 * of the module's RequestRules.
 */
export const StrictBody: (dto: Type<object>) => ParameterDecorator = createParamDecorator(
  async (dto: Type<object>, context: ExecutionContext) => {
    const request = context.switchToHttp().getRequest<Request>();
    const naming: Naming = { member: 'field' };
    const checked = await checkWithMember(request, dto, await readJsonObject(request), naming);
    requireFaultless(checked, naming);
    return checked.instance;
  },
);

/** The query as a validated instance of the DTO. All its values are strings. */
export const StrictQuery: (dto: Type<object>) => ParameterDecorator = createParamDecorator(
  (dto: Type<object>, context: ExecutionContext) => {
    const { values, repeated } = readQuery(context.switchToHttp().getRequest<Request>().originalUrl);
    return validated(dto, values, { member: 'parameter', repeated });
  },
);

/**
 * One parameter of the path, checked by its rule. The route takes no query: each parameter of one is refused by name.
 */
export function StrictPath(name: string, rule: Rule): ParameterDecorator {
  class PathParameters {}
  Obeys(rule)(PathParameters.prototype, name);
  const read = createParamDecorator((_data: unknown, context: ExecutionContext): unknown => {
    const { params, originalUrl } = context.switchToHttp().getRequest<Request>();
    const { values } = readQuery(originalUrl);
    const repeated = new Set(Object.keys(values).filter((given) => given === name));
    const input = { ...values, [name]: params[name] };
    return Reflect.get(validated(PathParameters, input, { member: 'parameter', repeated }), name);
  });
  return read();
}

/** The headers that the DTO names, as a validated instance of it. Other headers are ignored. */
export const StrictHeaders: (dto: Type<object>) => ParameterDecorator = createParamDecorator(
  (dto: Type<object>, context: ExecutionContext) => {
    const names = propertiesOf(dto).map(({ name }) => name);
    const { values, repeated } = readHeaders(context.switchToHttp().getRequest<Request>(), names);
    if (Object.keys(values).length > 0) return validated(dto, values, { member: 'header', repeated });
    // Most requests have none of these headers. The check of that case runs once.
    const known = withoutHeaders.get(dto);
    if (known) return known;
    const instance = Object.freeze(validated(dto, {}, { member: 'header' }));
    withoutHeaders.set(dto, instance);
    return instance;
  },
);

const withoutHeaders = new WeakMap<Type<object>, object>();
