import { createParamDecorator, type ExecutionContext, type PipeTransform, type Type } from '@nestjs/common';
import type { Request } from 'express';
import { readJsonObject } from './json-body.js';
import { readQuery } from './query.js';
import { validated } from './validated.js';

const IncomingRequest = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  context.switchToHttp().getRequest<Request>(),
);

class StrictBodyPipe implements PipeTransform<Request, Promise<object>> {
  constructor(private readonly dto: Type<object>) {}

  async transform(request: Request): Promise<object> {
    return validated(this.dto, await readJsonObject(request), { member: 'field' });
  }
}

class StrictQueryPipe implements PipeTransform<Request, object> {
  constructor(private readonly dto: Type<object>) {}

  transform(request: Request): object {
    const { values, repeated } = readQuery(request.originalUrl);
    return validated(this.dto, values, { member: 'parameter', repeated });
  }
}

/** The JSON body as a validated instance of the DTO, read only now: after the guards. */
export const StrictBody = (dto: Type<object>): ParameterDecorator => IncomingRequest(new StrictBodyPipe(dto));

/** The query as a validated instance of the DTO; all its values are strings. */
export const StrictQuery = (dto: Type<object>): ParameterDecorator =>
  IncomingRequest(new StrictQueryPipe(dto));
