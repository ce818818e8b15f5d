import { createParamDecorator, type ExecutionContext, type Type } from '@nestjs/common';
import type { Request } from 'express';
import { readHeaders } from './headers.js';
import { readJsonObject } from './json-body.js';
import { readQuery } from './query.js';
import { fieldsOf, validated } from './validated.js';

// Not as pipes: a host's global pipes come before a parameter's own, and would be given the whole request.

/** The JSON body as a validated instance of the DTO, read only now: after the guards. */
export const StrictBody = createParamDecorator(async (dto: Type<object>, context: ExecutionContext) =>
  validated(dto, await readJsonObject(context.switchToHttp().getRequest<Request>()), { member: 'field' }),
);

/** The query as a validated instance of the DTO; all its values are strings. */
export const StrictQuery = createParamDecorator((dto: Type<object>, context: ExecutionContext) => {
  const { values, repeated } = readQuery(context.switchToHttp().getRequest<Request>().originalUrl);
  return validated(dto, values, { member: 'parameter', repeated });
});

/** The headers that the DTO names, as a validated instance of it; all others are left alone. */
export const StrictHeaders = createParamDecorator((dto: Type<object>, context: ExecutionContext) => {
  const request = context.switchToHttp().getRequest<Request>();
  const { values, repeated } = readHeaders(request, fieldsOf(dto));
  return validated(dto, values, { member: 'header', repeated });
});
