import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiHeader, ApiOperation, ApiParam, ApiQuery, ApiResponse } from '@nestjs/swagger';
import type { OperationObject, ParameterObject, RequestBodyObject, Responses } from './open-api.js';

/**
 * An operation in terms of OpenAPI 3.0, without what the route itself says: path, method and scopes. It has no
 * references, since the document of a host has no components of ours.
 */
export interface Operation extends Pick<OperationObject, 'summary' | 'description'> {
  readonly operationId: string;
  readonly tags: string[];
  readonly parameters?: readonly ParameterObject[];
  /** JSON. */
  readonly requestBody?: RequestBodyObject;
  readonly responses: Responses;
}

/** Describes a route in the OpenAPI document of any app, by the decorators of @nestjs/swagger. */
export function Describes({
  parameters = [],
  requestBody,
  responses,
  ...operation
}: Operation): MethodDecorator {
  return applyDecorators(
    ApiOperation(operation),
    ...parameters.map(parameterDecorator),
    ...(requestBody ? [bodyDecorator(requestBody)] : []),
    ...Object.entries(responses).map(([status, response]) =>
      ApiResponse({ ...response, status: Number(status) }),
    ),
  );
}

function parameterDecorator({ in: place, ...parameter }: ParameterObject): MethodDecorator {
  const described = { required: place === 'path', ...parameter };
  if (place === 'path') return ApiParam(described);
  return place === 'query' ? ApiQuery(described) : ApiHeader(described);
}

/** The decorator takes schema and examples apart from the rest of the body. */
function bodyDecorator({ content, ...body }: RequestBodyObject): MethodDecorator {
  return ApiBody({ ...body, ...content['application/json'] });
}
